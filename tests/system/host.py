"""What tests need to know about the host: what it can do, what lives on it, what appeared since.

Only looks; it ends no process but those below the one that asks. Standard library only, Python 3.9.
"""

import ctypes
import os
import shutil
import signal
import stat
import subprocess
import time

SYS_LANDLOCK_CREATE_RULESET = 444


class Skip(Exception):
    """Raised to skip a test, with the reason."""


# -- processes ----------------------------------------------------------------------------------------------------

def _stat(pid):
    """(parent, state, start time) or None when there is no such process."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as f:
            cells = f.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(cells[1]), cells[0].decode(), int(cells[19])


def start_time(pid):
    found = _stat(pid)
    return found[2] if found else None


def process_name(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read(200).replace(b"\0", b" ").decode("utf-8", "replace").strip() or "?"
    except OSError:
        return "gone"


def _parents():
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = _stat(int(name))
            if found and found[1] != "Z":
                table[int(name)] = found[0]
    return table


def children(pid):
    return [p for p, parent in _parents().items() if parent == pid]


def descendants(pid):
    table, found, layer = _parents(), [], [pid]
    while layer:
        layer = [p for p, parent in table.items() if parent in layer]
        found += layer
    return found


def reap():
    """Collects children that ended and nobody waits for."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def end_tree(pid, seconds=5):
    """Kills everything below `pid`, and not `pid` itself; what forks meanwhile is seen in the next round."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        living = descendants(pid)
        if not living:
            return
        for p in living:
            try:
                os.kill(p, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if pid == os.getpid():
            reap()
        time.sleep(0.01)


def remove_tree(path):
    """rmtree that copes with folders a test made unreadable."""
    for folder, subs, _ in os.walk(path):
        for s in subs:
            full = os.path.join(folder, s)
            if not os.path.islink(full):
                try:
                    os.chmod(full, stat.S_IRWXU)
                except OSError:
                    pass
    shutil.rmtree(path, ignore_errors=True)


# -- what is there ------------------------------------------------------------------------------------------------

def own_groups():
    """{controllers: folder} of the groups this process is in, as far as they are mounted."""
    mounts = {}
    with open("/proc/self/mountinfo") as f:
        for line in f:
            left, _, right = line.partition(" - ")
            cells, kind = left.split(), right.split()
            if kind[0] == "cgroup2":
                mounts[""] = (cells[3], cells[4])
            elif kind[0] == "cgroup":
                for option in kind[2].split(","):
                    mounts.setdefault(option, (cells[3], cells[4]))
    groups = {}
    with open("/proc/self/cgroup") as f:
        for line in f:
            _, names, path = line.rstrip("\n").split(":", 2)
            mount = mounts.get(names.split(",")[0])
            if mount:
                root, target = mount
                below = path[len(root):] if root != "/" and path.startswith(root) else path
                groups[names] = os.path.normpath(target + "/" + below)
    return groups


def run_groups():
    """Groups of runs (fumehood-<pid>-<start time>-<pid namespace>-<n>) below our own ones, of our pid namespace: what a
    neighbouring container does is not ours to judge."""
    found, mine = set(), str(os.stat("/proc/self/ns/pid").st_ino)
    for folder in own_groups().values():
        try:
            found.update(os.path.join(folder, n) for n in os.listdir(folder)
                         if n.startswith("fumehood-") and n.split("-")[3:4] == [mine])
        except OSError:
            pass
    return found


def _group_owner_lives(path):
    cells = os.path.basename(path).split("-")
    try:
        return start_time(int(cells[1])) == int(cells[2])
    except (IndexError, ValueError):
        return False


class Snapshot:
    """What could be left behind on the host, now; residue() says what is there later that was not."""

    def __init__(self):
        self.mounts, self.groups, self.state = self._mounts(), run_groups(), self._state()

    @staticmethod
    def _mounts():
        """Below /sys the kernel and its tools mount what they need when somebody looks."""
        with open("/proc/self/mountinfo") as f:
            found = {line.split()[0] + " " + line.split()[4] for line in f}
        return {m for m in found if not m.split()[1].startswith("/sys/")}

    @staticmethod
    def _state():
        """Entries of the folder where sandboxes keep their locks and sockets; the ledger of ids stays for good."""
        try:
            return {n for n in os.listdir("/run/fumehood") if not n.startswith("ids")}
        except OSError:
            return set()

    def residue(self, seconds):
        """Waits up to `seconds` for everything to go. Groups of a living supervisor belong to somebody else's run."""
        end = time.monotonic() + seconds
        while True:
            left = ["mount " + m for m in sorted(self._mounts() - self.mounts)]
            left += ["group " + g for g in sorted(run_groups() - self.groups) if not _group_owner_lives(g)]
            left += ["/run/fumehood/" + n for n in sorted(self._state() - self.state)]
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)


# -- what a test may need: each returns None, or the reason why not ----------------------------------------------------

def need_root():
    return None if os.geteuid() == 0 else "not root"


def need_real_root():
    with open("/proc/self/uid_map") as f:
        whole = f.read().split() == ["0", "0", "4294967295"]
    return None if os.geteuid() == 0 and whole else "not root of the first user namespace"


def need_user():
    return None if os.geteuid() else "is root"


def need_userns():
    if not shutil.which("unshare"):
        return "unshare is not installed"
    done = subprocess.run(["unshare", "-U", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        return "no user namespaces: " + done.stderr.decode("utf-8", "replace").strip()
    return None


def _controller(name):
    """A folder in which a group with this controller can be made, or None."""
    groups = own_groups()
    for names, folder in groups.items():
        if name in names.split(",") and os.access(folder, os.W_OK):
            return folder
    if "" in groups and os.access(groups[""], os.W_OK):
        try:
            with open(os.path.join(groups[""], "cgroup.controllers")) as f:
                if name in f.read().split():
                    return groups[""]
        except OSError:
            pass
    return None


def need_cgroup():
    return None if _controller("memory") and _controller("pids") else "no group of ours to make groups with memory and pids in"


def need_cgroup2():
    folder = own_groups().get("")
    return None if folder and os.access(folder, os.W_OK) else "no group of ours to make groups in on cgroup v2"


def need_overlay():
    with open("/proc/filesystems") as f:
        if "overlay" not in f.read().split():
            return "the kernel has no overlay file system"
    return need_userns() if os.geteuid() else None


def need_subids():
    if not shutil.which("newuidmap"):
        return "newuidmap is not installed (apt-get install uidmap)"
    import pwd
    try:
        names = (pwd.getpwuid(os.getuid()).pw_name, str(os.getuid()))
    except KeyError:
        names = (str(os.getuid()),)
    try:
        with open("/etc/subuid") as f:
            if any(line.split(":")[0] in names for line in f):
                return None
    except OSError:
        pass
    return "no sub-ids of this user in /etc/subuid"


def landlock_abi():
    """The Landlock version of the kernel, 0 where there is none."""
    return max(0, ctypes.CDLL(None, use_errno=True).syscall(SYS_LANDLOCK_CREATE_RULESET, None, 0, 1))


def need_landlock(abi=1):
    have = landlock_abi()
    return None if have >= abi else "Landlock version %d, needs %d" % (have, abi)


def landlock(abi):
    """For @needs: at least this version."""
    return lambda: need_landlock(abi)


def tool(name):
    """For @needs: a program of the host."""
    return lambda: None if shutil.which(name) else "%s is not installed" % name


NEEDS = {
    "root": need_root, "real root": need_real_root, "user": need_user, "userns": need_userns, "cgroup": need_cgroup,
    "cgroup2": need_cgroup2, "overlay": need_overlay, "subids": need_subids, "landlock": need_landlock,
}
