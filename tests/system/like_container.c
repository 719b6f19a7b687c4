/* Runs a command as an ordinary container would: like_container CMD [ARG...]
 *
 * Installs a system call filter that refuses what the default profiles of container engines refuse to a
 * container without added capabilities, as far as a sandbox could want it: new namespaces, mounts, keys, and
 * clone3 as if the kernel had none. As root it also drops the capabilities that such a container does not
 * have. Only for tests. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "write down the audit name of this architecture"
#endif

#define NEW_NAMESPACES 0x7e020000u /* every CLONE_NEW* that clone knows */
#define CLONE3         435

/* Answered with EPERM. Numbers above 423 are the same on every architecture. */
static const unsigned refused[] = {
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_quotactl,
    SYS_syslog,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_open_by_handle_at,
    SYS_lookup_dcookie,
    SYS_fanotify_init,
    SYS_userfaultfd,
    SYS_vhangup,
    SYS_move_pages,
    SYS_mbind,
    SYS_set_mempolicy,
    425 /* io_uring_setup */,
    428 /* open_tree */,
    429 /* move_mount */,
    430 /* fsopen */,
    431 /* fsconfig */,
    432 /* fsmount */,
    433 /* fspick */,
    442 /* mount_setattr */,
};

enum { N_REFUSED = sizeof(refused) / sizeof(refused[0]), HEAD = 8, TAIL = 3 };

#define ANSWER(e) (SECCOMP_RET_ERRNO | (e))

static void build(struct sock_filter f[HEAD + N_REFUSED + TAIL])
{
	const struct sock_filter head[HEAD] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0,
		     HEAD - 2 + N_REFUSED), /* foreign: allow, as we test natives */
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLONE3, HEAD - 4 + N_REFUSED + 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, HEAD - 7 + N_REFUSED + 1,
		     HEAD - 7 + N_REFUSED),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	const struct sock_filter tail[TAIL] = {
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_K, ANSWER(EPERM)),
	    BPF_STMT(BPF_RET | BPF_K, ANSWER(ENOSYS)),
	};

	memcpy(f, head, sizeof(head));
	for (unsigned i = 0; i < N_REFUSED; i++)
		f[HEAD + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i],
							   (unsigned char)(N_REFUSED - i), 0);
	memcpy(f + HEAD + N_REFUSED, tail, sizeof(tail));
}

/* Those of an ordinary container. */
static int keep_capability(int cap)
{
	switch (cap) {
	case CAP_CHOWN:
	case CAP_DAC_OVERRIDE:
	case CAP_FSETID:
	case CAP_FOWNER:
	case CAP_MKNOD:
	case CAP_NET_RAW:
	case CAP_SETGID:
	case CAP_SETUID:
	case CAP_SETFCAP:
	case CAP_SETPCAP:
	case CAP_NET_BIND_SERVICE:
	case CAP_SYS_CHROOT:
	case CAP_KILL:
	case CAP_AUDIT_WRITE:
		return 1;
	default:
		return 0;
	}
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
		if (keep_capability(cap))
			continue;
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
		data[cap / 32].effective &= ~(1u << cap % 32);
		data[cap / 32].permitted &= ~(1u << cap % 32);
		data[cap / 32].inheritable &= ~(1u << cap % 32);
	}
	return (int)syscall(SYS_capset, &header, data);
}

int main(int argc, char **argv)
{
	struct sock_filter filter[HEAD + N_REFUSED + TAIL];
	struct sock_fprog program = {.len = HEAD + N_REFUSED + TAIL, .filter = filter};

	if (argc < 2) {
		fprintf(stderr, "usage: like_container CMD [ARG...]\n");
		return 125;
	}
	build(filter);
	/* Engines install theirs with CAP_SYS_ADMIN; without it the kernel wants no_new_privs. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)) {
		perror("like_container: install the filter");
		return 125;
	}
	if (drop_capabilities() < 0) {
		perror("like_container: drop capabilities");
		return 125;
	}
	execvp(argv[1], argv + 1);
	fprintf(stderr, "like_container: %s: %s\n", argv[1], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
