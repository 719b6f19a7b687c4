/* UTF-8: sanitizing, cutting, and the JSON strings that rest on them. */
#include <jansson.h>
#include <string.h>

#include "fuzz.h"
#include "base/buf.h"
#include "formats/json_write.h"
#include "formats/utf8.h"

static void check_cuts(const char *text, size_t n, int valid)
{
	for (size_t m = n > 64 ? n - 64 : 0; m <= n; m++) {
		size_t back = fh_utf8_cut_back(text, m), forward = fh_utf8_cut_forward(text + m, n - m);
		fuzz_must(back <= m && m - back <= 3 && forward <= 3 && forward <= n - m);
		if (valid) {
			fuzz_must(fh_utf8_is_valid(text, back));
			fuzz_must(fh_utf8_is_valid(text + m + forward, n - m - forward));
		}
	}
}

static void check_json(const char *text, size_t n, const struct fh_buf *sanitized)
{
	struct fh_json j;
	fh_autobuf line = {0};
	json_t *back;

	fh_buf_init(&line, 6 * n + 2);
	fh_json_init(&j, &line);
	fh_json_bytes(&j, text, n);
	fuzz_must(fh_json_finish(&j) == 0);
	fuzz_must(!memchr(line.data, '\n', line.len) && !memchr(line.data, 0x1b, line.len));
	back = json_loadb(line.data, line.len, JSON_DECODE_ANY, NULL);
	fuzz_must(back && json_string_length(back) == sanitized->len);
	fuzz_must(memcmp(json_string_value(back), fh_buf_str(sanitized), sanitized->len) == 0);
	json_decref(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *text = (const char *)bytes;
	int valid = fh_utf8_is_valid(text, n), binary = fh_utf8_is_binary(text, n);
	fh_autobuf once = {0};
	fh_autobuf twice = {0};

	fh_buf_init(&once, 3 * n);
	fh_buf_init(&twice, 3 * n);
	fuzz_must(fh_utf8_sanitize(text, n, &once) == 0);
	fuzz_must(!fh_utf8_is_binary(fh_buf_str(&once), once.len));
	fuzz_must(fh_utf8_sanitize(fh_buf_str(&once), once.len, &twice) == 0);
	fuzz_must(twice.len == once.len && memcmp(fh_buf_str(&once), fh_buf_str(&twice), once.len) == 0);
	fuzz_must(binary == (!valid || memchr(text, '\0', n) != NULL));
	fuzz_must(binary || (once.len == n && memcmp(fh_buf_str(&once), text, n) == 0));
	check_cuts(text, n, valid);
	check_json(text, n, &once);
	return 0;
}
