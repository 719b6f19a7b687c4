/* Every step between clone and exec, in order, with the words a person reads when it fails. One table: the enum, the
 * names in receipts and error messages, and the order of the documentation.
 *
 * FH_STEP(id, "what it does") */
#ifndef FH_CHILD_STEPS_H
#define FH_CHILD_STEPS_H

#define FH_STEPS(FH_STEP)                                                                                              \
	FH_STEP(CLOSE_FDS, "close inherited descriptors")                                                              \
	FH_STEP(JOIN_GROUPS, "join its control groups")                                                                \
	FH_STEP(SESSION, "start a session of its own")                                                                 \
	FH_STEP(OOM_SCORE, "raise its own out-of-memory score")                                                        \
	FH_STEP(BARRIER, "wait for the supervisor")                                                                    \
	FH_STEP(INIT_IDS, "take the ids of init")                                                                      \
	FH_STEP(CGROUPNS, "create a cgroup namespace")                                                                 \
	FH_STEP(KEYRING, "join a keyring of its own")                                                                  \
	FH_STEP(HOSTNAME, "set the host name")                                                                         \
	FH_STEP(PAIR, "keep init and the program in step")                                                             \
	FH_STEP(FORK, "fork the program")                                                                              \
	FH_STEP(NETNS, "create a network namespace")                                                                   \
	FH_STEP(LOOPBACK, "bring the loopback up")                                                                     \
	FH_STEP(PRIVATE, "make its mounts private")                                                                    \
	FH_STEP(STAGE, "mount the disk of the sandbox")                                                                \
	FH_STEP(MKDIR, "create a folder")                                                                              \
	FH_STEP(FILE, "create a file")                                                                                 \
	FH_STEP(SYMLINK, "create a link")                                                                              \
	FH_STEP(CHOWN, "set the owner of")                                                                             \
	FH_STEP(SOURCE, "open the host path")                                                                          \
	FH_STEP(SOURCE_CHANGED, "find the same file that was checked at")                                              \
	FH_STEP(ATTACH, "attach a mount at")                                                                           \
	FH_STEP(CLONE_MOUNT, "mount a part of its disk at")                                                            \
	FH_STEP(TMPFS, "mount a tmpfs at")                                                                             \
	FH_STEP(PROC, "mount a private /proc at")                                                                      \
	FH_STEP(DEVPTS, "mount a private /dev/pts at")                                                                 \
	FH_STEP(OVERLAY, "mount an overlay at")                                                                        \
	FH_STEP(SYSCTL, "set a limit of its namespaces")                                                               \
	FH_STEP(SEAL, "make read-only")                                                                                \
	FH_STEP(PIVOT, "enter its own root")                                                                           \
	FH_STEP(REPORT, "report to the supervisor")                                                                    \
	FH_STEP(LANDLOCK_RULES, "prepare the Landlock rules for")                                                      \
	FH_STEP(STDIO, "set up its standard streams")                                                                  \
	FH_STEP(RLIMIT, "set a resource limit")                                                                        \
	FH_STEP(CAPS, "drop capabilities")                                                                             \
	FH_STEP(PROGRAM_IDS, "take the ids of the program")                                                            \
	FH_STEP(VERIFY_IDS, "verify that no privilege is left")                                                        \
	FH_STEP(NO_NEW_PRIVS, "give up new privileges")                                                                \
	FH_STEP(LANDLOCK, "enter the Landlock domain")                                                                 \
	FH_STEP(CWD, "enter the working folder")                                                                       \
	FH_STEP(SIGNALS, "reset signals")                                                                              \
	FH_STEP(SCHEDULING, "set its scheduling")                                                                      \
	FH_STEP(PERSONALITY, "reset its personality")                                                                  \
	FH_STEP(SECCOMP, "install the system call filter")                                                             \
	FH_STEP(EXEC, "execute")

enum fh_step {
	FH_STEP_NONE,
#define FH_STEP_ENUM(id, words) FH_STEP_##id,
	FH_STEPS(FH_STEP_ENUM)
#undef FH_STEP_ENUM
	FH_STEP_COUNT_
};

#endif
