/* Making system calls fail on purpose, in the test build only (-Dfaults=true).
 *
 * FUMEHOOD_FAULT="n:errno" in the environment makes the n-th system call fail with that errno, counted over the
 * supervisor and everything it clones before exec together (the counter lives in a shared page): the calls through
 * sys/call.h, and those through the C library that fault_wrap.c knows. At the end the file that FUMEHOOD_FAULT_COUNT
 * names gets one line: how many were counted, the number of the call that was made to fail (-1: none), and whose it was
 * ("supervisor", "child" or "nobody"). FUMEHOOD_SWITCH="name,name" turns protections off, so that tests can show that
 * they notice. In the product build none of this exists. */
#ifndef FH_SYS_FAULT_H
#define FH_SYS_FAULT_H

#ifdef FH_TEST_HOOKS
/* Reads the environment once; called by main() before anything else. */
void fh_fault_setup(void);
/* 0, or the negative errno the call about to be made must return. */
long fh_fault_next(long nr);
/* Calls counted so far. */
unsigned long fh_fault_count(void);
/* Nonzero when the protection of that name is switched off. */
int fh_switched_off(const char *name);
#else
static inline void fh_fault_setup(void)
{
}
static inline long fh_fault_next(long nr)
{
	return 0;
}
static inline int fh_switched_off(const char *name)
{
	return 0;
}
#endif

#endif
