/* How people write amounts, and back: `30s`, `512M`, `0.5`, `true`. Pure functions of text; they know no
 * field and no bound, and never touch floating point.
 *
 * An amount is digits with at most one decimal point, then a unit without a space between. No sign, no
 * exponent. durations  ms, s, m, h, d in lower case; a bare number is seconds; finer than a millisecond is
 * rounded sizes      K, M, G, T (also KiB, MiB, ...) count in 1024; KB, MB, GB, TB in 1000; B and a bare
 * number are bytes; any case; rounded to whole bytes, but bytes themselves have no decimals counts     digits
 * only cpus       a bare number, rounded to thousandths of a CPU */
#ifndef FH_POLICY_UNITS_H
#define FH_POLICY_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Each returns 0, -EINVAL when the text is not such an amount, or -ERANGE when it does not fit in 64 bits. */
int fh_parse_duration(const char *text, uint64_t *ret_ms);
int fh_parse_bytes(const char *text, uint64_t *ret_bytes);
int fh_parse_count(const char *text, uint64_t *ret);
int fh_parse_cpus(const char *text, uint64_t *ret_milli);
/* true/false, yes/no, on/off, 1/0; lower case. */
int fh_parse_bool(const char *text, uint64_t *ret);

/* The shortest exact text that the parser above takes back to the same value. Never fails for cap >= 32. */
void fh_print_duration(uint64_t ms, char *into, size_t cap);
void fh_print_bytes(uint64_t bytes, char *into, size_t cap);
void fh_print_cpus(uint64_t milli, char *into, size_t cap);

#endif
