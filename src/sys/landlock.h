/* Landlock, with the constants of every ABI that Linux 6.18 knows (Debian 12 headers stop at ABI 2). */
#ifndef FH_SYS_LANDLOCK_H
#define FH_SYS_LANDLOCK_H

#include "sys/call.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

#define FH_LL_EXECUTE     (1ull << 0)
#define FH_LL_WRITE_FILE  (1ull << 1)
#define FH_LL_READ_FILE   (1ull << 2)
#define FH_LL_READ_DIR    (1ull << 3)
#define FH_LL_REMOVE_DIR  (1ull << 4)
#define FH_LL_REMOVE_FILE (1ull << 5)
#define FH_LL_MAKE_CHAR   (1ull << 6)
#define FH_LL_MAKE_DIR    (1ull << 7)
#define FH_LL_MAKE_REG    (1ull << 8)
#define FH_LL_MAKE_SOCK   (1ull << 9)
#define FH_LL_MAKE_FIFO   (1ull << 10)
#define FH_LL_MAKE_BLOCK  (1ull << 11)
#define FH_LL_MAKE_SYM    (1ull << 12)
#define FH_LL_REFER       (1ull << 13) /* ABI 2 */
#define FH_LL_TRUNCATE    (1ull << 14) /* ABI 3 */
#define FH_LL_IOCTL_DEV   (1ull << 15) /* ABI 5 */

#define FH_LL_NET_BIND    (1ull << 0) /* ABI 4 */
#define FH_LL_NET_CONNECT (1ull << 1)

#define FH_LL_SCOPE_ABSTRACT (1ull << 0) /* ABI 6 */
#define FH_LL_SCOPE_SIGNAL   (1ull << 1)

struct fh_ll_ruleset {
	uint64_t handled_fs, handled_net, scoped;
};
struct fh_ll_path_beneath {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

/* The ABI of the running kernel, or a negative errno where there is none. */
static inline long fh_sys_landlock_abi(void)
{
	return FH_SYS(SYS_landlock_create_ruleset, NULL, 0, 1u /* LANDLOCK_CREATE_RULESET_VERSION */);
}
static inline long fh_sys_landlock_create(const struct fh_ll_ruleset *r, size_t size)
{
	return FH_SYS(SYS_landlock_create_ruleset, r, size, 0);
}
static inline long fh_sys_landlock_add(int ruleset, const struct fh_ll_path_beneath *rule)
{
	return FH_SYS(SYS_landlock_add_rule, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, rule, 0);
}
static inline long fh_sys_landlock_restrict(int ruleset)
{
	return FH_SYS(SYS_landlock_restrict_self, ruleset, 0);
}

#endif
