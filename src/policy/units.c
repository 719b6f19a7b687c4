/* Amounts as people write them; see units.h. */
#include "policy/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"

/* Digits after the point that count; more are accepted, as long division prints them, and change nothing. */
#define FRACTION_DIGITS_MAX 18
/* No honest amount is longer; bounds the loops below. */
#define AMOUNT_CHARS_MAX 64

/* A decimal number taken apart: whole + fraction / 10^digits. */
struct amount {
	uint64_t whole;
	uint64_t fraction;
	int digits;
	int has_point;
	const char *unit; /* what follows the number */
};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int read_amount(const char *text, struct amount *ret)
{
	struct amount a = {0};
	const char *p = text;

	if (strnlen(text, AMOUNT_CHARS_MAX + 1) > AMOUNT_CHARS_MAX || !is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		uint64_t digit = (uint64_t)(*p - '0');
		if (a.whole > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		a.whole = a.whole * 10 + digit;
	}
	if (*p == '.') {
		p++;
		a.has_point = 1;
		if (!is_digit(*p))
			return -EINVAL;
		for (; is_digit(*p); p++) {
			if (a.digits == FRACTION_DIGITS_MAX)
				continue;
			a.fraction = a.fraction * 10 + (uint64_t)(*p - '0');
			a.digits++;
		}
	}
	a.unit = p;
	*ret = a;
	return 0;
}

/* The amount times scale, rounded half up to a whole number. */
static int scaled(const struct amount *a, uint64_t scale, uint64_t *ret)
{
	unsigned __int128 power = 1, sum;

	for (int i = 0; i < a->digits; i++)
		power *= 10;
	/* fraction < 10^18 and scale <= 2^40: below 2^100, no overflow. */
	sum = (unsigned __int128)a->whole * scale +
	      ((unsigned __int128)a->fraction * scale + power / 2) / power;
	if (sum > UINT64_MAX)
		return -ERANGE;
	*ret = (uint64_t)sum;
	return 0;
}

struct unit {
	const char *name;
	uint64_t scale;
};

/* Coarsest first: printing takes the first that divides. */
static const struct unit duration_units[] = {
    {"d", 24 * 3600 * 1000ull}, {"h", 3600 * 1000ull}, {"m", 60 * 1000ull}, {"s", 1000}, {"ms", 1},
};

static const struct unit size_units[] = {
    {"T", 1ull << 40},
    {"G", 1ull << 30},
    {"M", 1ull << 20},
    {"K", 1ull << 10},
    {"TiB", 1ull << 40},
    {"GiB", 1ull << 30},
    {"MiB", 1ull << 20},
    {"KiB", 1ull << 10},
    {"TB", 1000000000000ull},
    {"GB", 1000000000ull},
    {"MB", 1000000ull},
    {"KB", 1000ull},
    {"B", 1},
};
#define SIZE_UNITS_PRINTED 4

int fh_parse_duration(const char *text, uint64_t *ret_ms)
{
	struct amount a;
	int rc = read_amount(text, &a);

	if (rc < 0)
		return rc;
	if (!*a.unit)
		return scaled(&a, 1000, ret_ms);
	for (size_t i = 0; i < FH_ARRAY_LEN(duration_units); i++)
		if (strcmp(a.unit, duration_units[i].name) == 0)
			return scaled(&a, duration_units[i].scale, ret_ms);
	return -EINVAL;
}

int fh_parse_bytes(const char *text, uint64_t *ret_bytes)
{
	struct amount a;
	int rc = read_amount(text, &a);
	uint64_t scale = 0;

	if (rc < 0)
		return rc;
	if (!*a.unit)
		scale = 1;
	for (size_t i = 0; i < FH_ARRAY_LEN(size_units) && !scale; i++)
		if (strcasecmp(a.unit, size_units[i].name) == 0)
			scale = size_units[i].scale;
	if (!scale || (scale == 1 && a.has_point))
		return -EINVAL;
	return scaled(&a, scale, ret_bytes);
}

int fh_parse_count(const char *text, uint64_t *ret)
{
	struct amount a;
	int rc = read_amount(text, &a);

	if (rc < 0)
		return rc;
	if (*a.unit || a.has_point)
		return -EINVAL;
	*ret = a.whole;
	return 0;
}

int fh_parse_cpus(const char *text, uint64_t *ret_milli)
{
	struct amount a;
	int rc = read_amount(text, &a);

	if (rc < 0)
		return rc;
	if (*a.unit)
		return -EINVAL;
	return scaled(&a, 1000, ret_milli);
}

int fh_parse_bool(const char *text, uint64_t *ret)
{
	static const char *const no[] = {"false", "no", "off", "0"};
	static const char *const yes[] = {"true", "yes", "on", "1"};

	for (size_t i = 0; i < FH_ARRAY_LEN(no); i++) {
		if (strcmp(text, no[i]) != 0 && strcmp(text, yes[i]) != 0)
			continue;
		*ret = strcmp(text, yes[i]) == 0;
		return 0;
	}
	return -EINVAL;
}

/* The first `n` units, coarsest first; the finest must have scale 1 or be followed by a bare number. */
static void print_with(const struct unit *units, size_t n, uint64_t value, char *into, size_t cap)
{
	for (size_t i = 0; value && i < n; i++) {
		if (value % units[i].scale)
			continue;
		snprintf(into, cap, "%" PRIu64 "%s", value / units[i].scale, units[i].name);
		return;
	}
	snprintf(into, cap, "%" PRIu64, value);
}

void fh_print_duration(uint64_t ms, char *into, size_t cap)
{
	print_with(duration_units, FH_ARRAY_LEN(duration_units), ms, into, cap);
}

void fh_print_bytes(uint64_t bytes, char *into, size_t cap)
{
	print_with(size_units, SIZE_UNITS_PRINTED, bytes, into, cap);
}

void fh_print_cpus(uint64_t milli, char *into, size_t cap)
{
	int used = snprintf(into, cap, "%" PRIu64 ".%03" PRIu64, milli / 1000, milli % 1000);

	if (used < 0 || (size_t)used >= cap)
		return;
	while (into[used - 1] == '0')
		into[--used] = '\0';
	if (into[used - 1] == '.')
		into[--used] = '\0';
}
