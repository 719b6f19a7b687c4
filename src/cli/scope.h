/* Control groups for an ordinary user under systemd: the user's manager hands out a scope with delegated controllers, but
 * only to a process that is started in one. */
#ifndef FH_CLI_SCOPE_H
#define FH_CLI_SCOPE_H

/* Where this process may make no memory and pids groups, and the user's systemd manager could give it a scope of its own:
 * starts the same command again inside one, through systemd-run, and does not return. Otherwise (root, no systemd, groups
 * already there, FUMEHOOD_NO_SCOPE set, or systemd-run fails to start) returns without having changed anything. */
void fh_cli_enter_scope(char **argv);

#endif
