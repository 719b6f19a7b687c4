/* Init and the program at level 2, forked early so that both work at once: while init builds the root, the
 * program makes the network namespace, the slowest of all. They meet over a socket pair: program -> init the
 * network namespace, as a descriptor: init enters it, too init -> program   "the root stands": paths are
 * those of the sandbox from now on init -> program   "the old root is gone": nothing but the sandbox is left,
 * exec may come Nothing of the program's own code runs before the last word. Raw calls only. */
#include "child/pair.h"

#include <linux/if.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "child/child.h"

void fh_pair_open(struct fh_pair *pair, const struct fh_plan *plan)
{
	int fds[2] = {-1, -1};
	long high;

	FH_MUST(plan, PAIR, FH_SYS(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds));
	/* Above the numbers that the standard streams and the status pipe move to. */
	high = fh_sys_fcntl(fds[1], F_DUPFD_CLOEXEC, 10);
	FH_MUST(plan, PAIR, high);
	fh_sys_close(fds[1]);
	*pair = (struct fh_pair){fds[0], (int)high};
}

void fh_pair_make_network(const struct fh_pair *pair, const struct fh_plan *plan)
{
	struct ifreq request = {.ifr_name = "lo"};
	const struct fh_report here = {0};
	long fd, ns;
	int net;

	if (!plan->new_netns)
		return;
	FH_MUST(plan, NETNS, fh_sys_unshare(CLONE_NEWNET));
	fd = FH_SYS(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	FH_MUST(plan, LOOPBACK, fd);
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	FH_MUST(plan, LOOPBACK, FH_SYS(SYS_ioctl, (int)fd, SIOCSIFFLAGS, &request));
	/* By the socket: a path would depend on how far init is with the root. */
	ns = FH_SYS(SYS_ioctl, (int)fd, SIOCGSKNS);
	FH_MUST(plan, NETNS, ns);
	net = (int)ns;
	FH_MUST(plan, PAIR, fh_child_send_report(pair->program_fd, &here, &net, 1));
	fh_sys_close((int)fd);
	fh_sys_close(net);
}

/* One descriptor that the program sends; at its death, the end: it has told its reason itself. */
static int take_descriptor(const struct fh_pair *pair, const struct fh_plan *plan)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct fh_report sink;
	struct iovec iov = {.iov_base = &sink, .iov_len = sizeof(sink)};
	struct msghdr msg = {
	    .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	long got;
	int fd = -1;

	do
		got = FH_SYS(SYS_recvmsg, pair->init_fd, &msg, MSG_CMSG_CLOEXEC);
	while (got == -EINTR);
	if (got == 0)
		fh_sys_exit(125);
	FH_MUST(plan, PAIR, got);
	if (msg.msg_controllen < sizeof(control.header) || control.header.cmsg_type != SCM_RIGHTS)
		fh_child_die(plan, FH_STEP_PAIR, -EBADMSG, -1);
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

void fh_pair_enter_network(const struct fh_pair *pair, const struct fh_plan *plan)
{
	int fd;

	if (!plan->new_netns)
		return;
	fd = take_descriptor(pair, plan);
	FH_MUST(plan, NETNS, FH_SYS(SYS_setns, fd, CLONE_NEWNET));
	fh_sys_close(fd);
}

void fh_pair_tell(const struct fh_pair *pair, const struct fh_plan *plan)
{
	FH_MUST(plan, PAIR, FH_SYS(SYS_sendto, pair->init_fd, "r", 1, MSG_NOSIGNAL, NULL, 0));
}

void fh_pair_wait(const struct fh_pair *pair, const struct fh_plan *plan)
{
	char word;
	long got;

	if (pair->program_fd < 0)
		return;
	do
		got = fh_sys_read(pair->program_fd, &word, 1);
	while (got == -EINTR);
	FH_MUST(plan, PAIR, got);
	if (got == 0) /* init is gone, and so are we in a moment */
		fh_sys_exit(125);
}
