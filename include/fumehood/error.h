/* fumehood: what failed, told to a person. Part of the public C API; plain data, the caller's, without heap.
 *
 * A function that can fail takes a `struct fh_err *err` last (NULL when nobody wants to know) and returns a
 * negative errno. It fills `err` then and only then. */
#ifndef FUMEHOOD_ERROR_H
#define FUMEHOOD_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Whose fault it is, and so what a caller should do about it. */
enum fh_err_kind {
	FH_ERR_SANDBOX,     /* ours or the host's: may be retried, never scored as the program's failure */
	FH_ERR_USAGE,       /* the caller asked for something that makes no sense */
	FH_ERR_UNSUPPORTED, /* this host cannot enforce what was asked; `fix` says how it could */
	FH_ERR_NOT_FOUND,   /* the command to run does not exist inside the sandbox (exit status 127) */
	FH_ERR_NOT_EXEC,    /* the command exists but cannot be executed (exit status 126) */
};

struct fh_err {
	int code; /* negative errno; 0 when no error was recorded */
	enum fh_err_kind kind;
	char message[512]; /* one line: what failed, on what, why */
	char fix[256];     /* one line: what to do about it; may be empty */
};

#ifdef __cplusplus
}
#endif
#endif
