/* Ownership made visible at the declaration: what a variable holds is released when it goes out of scope, unless it
 * was handed on with fh_take_*(). */
#ifndef FH_BASE_OWN_H
#define FH_BASE_OWN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void fh_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void fh_cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fh_cleanup_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void fh_cleanup_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define fh_autofree __attribute__((cleanup(fh_cleanup_free)))
#define fh_autofd   __attribute__((cleanup(fh_cleanup_fd)))
#define fh_autofile __attribute__((cleanup(fh_cleanup_file)))
#define fh_autodir  __attribute__((cleanup(fh_cleanup_dir)))

/* Returns *fd and leaves -1 behind: the caller now owns it. */
static inline int fh_take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

/* Returns *p and leaves NULL behind. */
#define fh_take_ptr(p)                                                                                                 \
	({                                                                                                             \
		__typeof__(*(p)) fh_taken_ = *(p);                                                                     \
		*(p) = NULL;                                                                                           \
		fh_taken_;                                                                                             \
	})

/* Closes *fd if it is open and leaves -1 behind. */
static inline void fh_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#define FH_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
