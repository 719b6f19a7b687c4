/* Amounts as people write them: every form, every border, and back. */
#include "policy/units.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"

struct row {
	const char *text;
	int rc;
	uint64_t value;
};

static void check(int (*parse)(const char *, uint64_t *), const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t got = 0xabcd;
		int rc = parse(rows[i].text, &got);
		if (rc != rows[i].rc || got != (rc ? 0xabcd : rows[i].value))
			fail_msg("'%s' gave %d and %llu", rows[i].text, rc, (unsigned long long)got);
	}
}

/* What no amount of any kind may look like. */
static const struct row never[] = {
    {"", -EINVAL, 0},
    {" ", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"1 ", -EINVAL, 0},
    {".5", -EINVAL, 0},
    {"5.", -EINVAL, 0},
    {"1..2", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {"0x10", -EINVAL, 0},
    {"nan", -EINVAL, 0},
    {"inf", -EINVAL, 0},
    {"1,5", -EINVAL, 0},
    {"1_000", -EINVAL, 0},
    {"K", -EINVAL, 0},
    {"1\n", -EINVAL, 0},
    {"1\xc2\xa0", -EINVAL, 0},
    {"--", -EINVAL, 0},
    {"18446744073709551616", -ERANGE, 0},                                              /* 2^64 */
    {"99999999999999999999999999999999999999999999999999999999999999999", -EINVAL, 0}, /* 65 characters */
};

static void durations(void **state)
{
	static const struct row rows[] = {
	    {"0", 0, 0},
	    {"1", 0, 1000},
	    {"30", 0, 30000},
	    {"0.5", 0, 500},
	    {"500ms", 0, 500},
	    {"30s", 0, 30000},
	    {"5m", 0, 300000},
	    {"1h", 0, 3600000},
	    {"2d", 0, 172800000},
	    {"1.5h", 0, 5400000},
	    {"0.001", 0, 1},
	    {"0.0005", 0, 1},
	    {"0.00049", 0, 0},
	    {"1.9996ms", 0, 2},
	    {"0.3333333333333333333333333", 0, 333},
	    {"18446744073709551615ms", 0, UINT64_MAX},
	    {"18446744073709551615s", -ERANGE, 0},
	    {"18446744073709551.615", 0, UINT64_MAX},
	    {"18446744073709551.616", -ERANGE, 0},
	    {"5M", -EINVAL, 0},
	    {"5S", -EINVAL, 0},
	    {"5sec", -EINVAL, 0},
	    {"1h30m", -EINVAL, 0},
	    {"30 s", -EINVAL, 0},
	    {"5mss", -EINVAL, 0},
	};

	check(fh_parse_duration, rows, FH_ARRAY_LEN(rows));
	check(fh_parse_duration, never, FH_ARRAY_LEN(never));
}

static void sizes(void **state)
{
	static const struct row rows[] = {
	    {"0", 0, 0},
	    {"1", 0, 1},
	    {"8192", 0, 8192},
	    {"64K", 0, 65536},
	    {"512M", 0, 536870912},
	    {"512MiB", 0, 536870912},
	    {"512MB", 0, 512000000},
	    {"1G", 0, 1073741824},
	    {"1GB", 0, 1000000000},
	    {"1TiB", 0, 1ull << 40},
	    {"1kb", 0, 1000},
	    {"1k", 0, 1024},
	    {"1mib", 0, 1 << 20},
	    {"7B", 0, 7},
	    {"1.5K", 0, 1536},
	    {"1.1K", 0, 1126},
	    {"0.0001K", 0, 0},
	    {"16777215T", 0, 16777215ull << 40},
	    {"16777216T", -ERANGE, 0},
	    {"1.5", -EINVAL, 0},
	    {"1.0B", -EINVAL, 0},
	    {"1KK", -EINVAL, 0},
	    {"1Ki", -EINVAL, 0},
	    {"1P", -EINVAL, 0},
	    {"1 M", -EINVAL, 0},
	    {"1s", -EINVAL, 0},
	};

	check(fh_parse_bytes, rows, FH_ARRAY_LEN(rows));
	check(fh_parse_bytes, never, FH_ARRAY_LEN(never));
}

static void counts_and_cpus(void **state)
{
	static const struct row counts[] = {
	    {"0", 0, 0},         {"64", 0, 64},       {"18446744073709551615", 0, UINT64_MAX},
	    {"1.0", -EINVAL, 0}, {"64K", -EINVAL, 0},
	};
	static const struct row cpus[] = {
	    {"2", 0, 2000},   {"0.5", 0, 500},     {"0.0005", 0, 1},
	    {"0.0004", 0, 0}, {"1.2345", 0, 1235}, {"1m", -EINVAL, 0},
	};

	check(fh_parse_count, counts, FH_ARRAY_LEN(counts));
	check(fh_parse_count, never, FH_ARRAY_LEN(never));
	check(fh_parse_cpus, cpus, FH_ARRAY_LEN(cpus));
	/* 2^64 itself is read, but not its thousandfold. */
	check(fh_parse_cpus, never, FH_ARRAY_LEN(never));
}

static void truth(void **state)
{
	static const struct row rows[] = {
	    {"true", 0, 1},   {"yes", 0, 1},        {"on", 0, 1},      {"1", 0, 1},
	    {"false", 0, 0},  {"no", 0, 0},         {"off", 0, 0},     {"0", 0, 0},
	    {"", -EINVAL, 0}, {"True", -EINVAL, 0}, {"2", -EINVAL, 0}, {"tru", -EINVAL, 0},
	};

	check(fh_parse_bool, rows, FH_ARRAY_LEN(rows));
}

static void prints(void **state)
{
	char s[32];
	static const struct {
		void (*print)(uint64_t, char *, size_t);
		uint64_t value;
		const char *text;
	} rows[] = {
	    {fh_print_duration, 0, "0"},
	    {fh_print_duration, 1, "1ms"},
	    {fh_print_duration, 999, "999ms"},
	    {fh_print_duration, 1000, "1s"},
	    {fh_print_duration, 1001, "1001ms"},
	    {fh_print_duration, 90000, "90s"},
	    {fh_print_duration, 60000, "1m"},
	    {fh_print_duration, 3600000, "1h"},
	    {fh_print_duration, 604800000, "7d"},
	    {fh_print_bytes, 0, "0"},
	    {fh_print_bytes, 1, "1"},
	    {fh_print_bytes, 1023, "1023"},
	    {fh_print_bytes, 1024, "1K"},
	    {fh_print_bytes, 1025, "1025"},
	    {fh_print_bytes, 536870912, "512M"},
	    {fh_print_bytes, 1ull << 60, "1048576T"},
	    {fh_print_bytes, UINT64_MAX, "18446744073709551615"},
	    {fh_print_cpus, 0, "0"},
	    {fh_print_cpus, 10, "0.01"},
	    {fh_print_cpus, 500, "0.5"},
	    {fh_print_cpus, 2000, "2"},
	    {fh_print_cpus, 1024000, "1024"},
	    {fh_print_cpus, 1001, "1.001"},
	};

	for (size_t i = 0; i < FH_ARRAY_LEN(rows); i++) {
		rows[i].print(rows[i].value, s, sizeof(s));
		assert_string_equal(s, rows[i].text);
	}
}

/* Whatever is printed is read back as the same value. */
static void round_trips(void **state)
{
	uint64_t value = 1, back;
	char s[32];

	for (int i = 0; i < 20000; i++) {
		value = value * 6364136223846793005ull + 1442695040888963407ull;
		uint64_t v = value >> (i % 64);
		fh_print_duration(v, s, sizeof(s));
		assert_int_equal(fh_parse_duration(s, &back), 0);
		assert_true(back == v);
		fh_print_bytes(v, s, sizeof(s));
		assert_int_equal(fh_parse_bytes(s, &back), 0);
		assert_true(back == v);
		fh_print_cpus(v, s, sizeof(s));
		assert_int_equal(fh_parse_cpus(s, &back), 0);
		assert_true(back == v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(durations), cmocka_unit_test(sizes),  cmocka_unit_test(counts_and_cpus),
	    cmocka_unit_test(truth),     cmocka_unit_test(prints), cmocka_unit_test(round_trips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
