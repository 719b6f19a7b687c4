# shellcheck shell=bash
# Sourced by the programs in script/: what they need, where they build, how they speak. Not a program itself.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# Only /usr/bin/python3 is known to be readable by every user; a version manager's may not be.
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3 || echo python3)

die() { # one line to a person; 125 is "our failure", as in fumehood itself
	echo "${0##*/}: $*" >&2
	exit 125
}

progress() { # only where somebody looks on
	if [ -t 2 ]; then echo "${0##*/}: $*" >&2; fi
}

has() { command -v "$1" >/dev/null 2>&1; }
has_header() { printf '#include <%s>\n' "$@" | cc -E -x c - >/dev/null 2>&1; }

# missing_packages run|test: prints the Debian packages that are not there yet, judged by what they provide.
missing_packages() {
	local list=()
	has cc || list+=(gcc libc6-dev)
	if has cc && ! has_header stdio.h; then list+=(libc6-dev); fi
	has meson || list+=(meson)
	has ninja || list+=(ninja-build)
	has pkg-config || list+=(pkg-config)
	has /usr/bin/python3 || has python3 || list+=(python3)
	has_header jansson.h || list+=(libjansson-dev)
	has_header yaml.h || list+=(libyaml-dev)
	has_header openssl/sha.h || list+=(libssl-dev)
	if [ "$1" = test ]; then
		has_header stdarg.h stddef.h stdint.h setjmp.h cmocka.h || list+=(libcmocka-dev)
		has newuidmap || list+=(uidmap)
		has pmccabe || list+=(pmccabe)
	fi
	echo "${list[*]}"
}

# need_packages run|test: installs what is missing as root on a Debian-like host, else says what to type.
need_packages() {
	local list log
	list=$(missing_packages "$1")
	[ -n "$list" ] || return 0
	if ! has apt-get; then
		die "missing here: what Debian calls $list. Install the like of it with your package manager, then run this again"
	fi
	if [ "$(id -u)" != 0 ]; then
		die "missing packages. Run: sudo apt-get install -y $list"
	fi
	progress "installing $list"
	log=$(mktemp)
	# shellcheck disable=SC2086
	if ! { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $list ||
		{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $list; }; } \
		>"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		die "apt-get could not install: $list (see above)"
	fi
	rm -f "$log"
}

# need_vm: a virtual machine's parts for tests/vm, as root on Debian: qemu and busybox as packages, and a kernel unpacked
# into the build folder rather than installed, which would make it the host's. What is missing then makes tests skip.
need_vm() {
	local kernel folder=$build/vm
	if [ "$(id -u)" != 0 ] || ! has apt-get || ls /boot/vmlinuz-* >/dev/null 2>&1; then return 0; fi
	if ! { has qemu-system-x86_64 && has busybox && apt-cache show linux-image-cloud-amd64; } >/dev/null 2>&1; then
		{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
			qemu-system-x86 busybox-static; } >/dev/null 2>&1 </dev/null
	fi
	if ! ls "$folder"/boot/vmlinuz-* >/dev/null 2>&1; then
		mkdir -p "$folder"
		kernel=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
		[ -n "$kernel" ] && (cd "$folder" && apt-get download "$kernel" >/dev/null 2>&1 && dpkg -x linux-image-*.deb . &&
			rm -f linux-image-*.deb)
	fi
	for kernel in "$folder"/boot/vmlinuz-*; do
		[ -e "$kernel" ] || return 0
		export FUMEHOOD_VM_KERNEL=$kernel FUMEHOOD_VM_MODULES=$folder/lib/modules/${kernel##*/vmlinuz-}
	done
}

# choose_build: sets `build`: $FUMEHOOD_BUILD, or build/ in the checkout, or a folder in the user's cache when the
# checkout belongs to somebody else.
choose_build() {
	if [ -n "${FUMEHOOD_BUILD:-}" ]; then
		build=$FUMEHOOD_BUILD
	elif [ -w "$root" ] && { [ ! -e "$root/build" ] || [ -w "$root/build" ]; }; then
		build=$root/build
	else
		build=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/fumehood/build-$(echo "$root" | cksum | cut -d' ' -f1)
	fi
	mkdir -p "$build" 2>/dev/null || die "cannot make the build folder $build. Set FUMEHOOD_BUILD to a folder you may write"
	build=$(cd "$build" && pwd -P)
}

# build_in FOLDER LOG [meson option...]: configures where needed and compiles; prints nothing, fails with the log shown.
build_in() {
	local folder=$1 log=$2 stamp=$1/fumehood-checkout
	shift 2
	# A build folder remembers absolute paths: one that came here by copying the checkout is of no use.
	if [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" != "$root $folder" ]; then
		rm -rf "$folder"
	fi
	mkdir -p "$folder"
	if [ ! -f "$folder/build.ninja" ]; then
		progress "configuring $folder"
		if ! meson setup "$folder" "$root" "$@" >"$log" 2>&1 </dev/null; then
			cat "$log" >&2
			die "meson could not configure $folder (its log is above)"
		fi
		printf '%s\n' "$root $folder" "$*" >"$stamp"
	elif [ $# -gt 0 ] && [ "$(sed -n 2p "$stamp" 2>/dev/null)" != "$*" ]; then
		if ! meson configure "$folder" "$@" >"$log" 2>&1 </dev/null; then
			cat "$log" >&2
			die "meson could not set $* in $folder (its log is above)"
		fi
		printf '%s\n' "$root $folder" "$*" >"$stamp"
	fi
	progress "building in $folder"
	if ! ninja -C "$folder" >"$log" 2>&1 </dev/null; then
		cat "$log" >&2
		die "the build in $folder failed (its log is above)"
	fi
}

# own_root ARGUMENT...: in a chroot, root starts the calling script again where user namespaces are allowed.
own_root() {
	if [ "$(id -u)" = 0 ] && [ -z "${FUMEHOOD_OWN_ROOT:-}" ] && ! unshare -U true 2>/dev/null; then
		FUMEHOOD_OWN_ROOT=1 exec "$python" -B "$root/script/own-root" "$0" "$@"
	fi
}
