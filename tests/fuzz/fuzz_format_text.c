/* Text for models from hostile output. The first 8 bytes choose options and where the streams lie; the rest
 * is output. */
#include <string.h>

#include "fuzz.h"
#include "base/buf.h"
#include "formats/chat_tokens.h"
#include "formats/format_text.h"
#include "formats/result_json.h"
#include "formats/utf8.h"

#define CHOICE_BYTES 8

static size_t count_of(const char *text, const char *part)
{
	size_t found = 0;

	for (const char *p = text; (p = strstr(p, part)); p++)
		found++;
	return found;
}

/* One unit for each started run of 3 bytes: not additive, as tokens are not. */
static size_t threes(void *self, const char *text, size_t n)
{
	(void)self;
	(void)text;
	return (n + 2) / 3;
}

static void stream_of(struct fh_stream *s, const struct fh_buf *text, uint8_t lost)
{
	s->text = text->data;
	s->text_bytes = text->len;
	s->bytes_kept = text->len;
	s->bytes_total = text->len + lost;
	s->truncated = lost > 0;
	s->text_head_bytes = fh_utf8_cut_back(fh_buf_str(text), text->len / 3);
	s->raw = text->data;
	s->head_bytes = s->text_head_bytes;
}

static void options_of(struct fh_format_options *o, const uint8_t *choice)
{
	fh_format_options_init(o, (enum fh_text_format)(choice[0] % 3));
	o->unit = (enum fh_format_unit)(choice[1] % 3);
	o->count = threes;
	o->unit_name = "threes";
	o->budget = choice[2] & 0x80 ? 0 : choice[2];
	o->head_percent = choice[3] % 101;
	if (choice[4] & 1)
		o->clean = choice[4] >> 1 & FH_CLEAN_ALL;
}

static void check_text(const struct fh_format_options *o, const struct fh_result *r,
		       const struct fh_buf *text)
{
	const char *s = fh_buf_str(text);

	fuzz_must(!fh_utf8_is_binary(s, text->len));
	if (o->format == FH_TEXT_OBSERVATION) {
		fuzz_must(count_of(s, "--- STDOUT ---") == (r->out.bytes_total > 0));
		fuzz_must(count_of(s, "--- STDERR ---") == (r->err.bytes_total > 0));
		fuzz_must(count_of(s, "[fumehood:") == 1u + (r->message && *r->message));
	}
	if (o->clean & FH_CLEAN_TERMINAL)
		fuzz_must(!memchr(s, 0x1b, text->len) && !memchr(s, '\a', text->len));
	if (o->clean & FH_CLEAN_PROGRESS)
		fuzz_must(!memchr(s, '\r', text->len) && !memchr(s, '\b', text->len));
	if (o->clean & FH_CLEAN_INVISIBLE)
		fuzz_must(!strstr(s, "\xe2\x80\xae") && !strstr(s, "\xe2\x80\x8b"));
	if (o->clean & FH_CLEAN_TOKENS)
		for (size_t i = 0; i < text->len; i++)
			fuzz_must(!fh_chat_token_by_form(s + i, text->len - i));
	/* The longest unit is a character of 4 bytes. */
	if (o->budget)
		fuzz_must(text->len <= 4 * o->budget + FH_FORMAT_WRAPPER_BYTES_MAX +
					   5 * strlen(r->message ? r->message : ""));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fh_format_options o;
	struct fh_result r = {.id = "fuzz", .exit_code = -1};
	struct fh_err err = {0};
	fh_autobuf out = {0};
	fh_autobuf errors = {0};
	fh_autobuf text = {0};
	fh_autobuf json = {0};
	size_t border;

	if (n < CHOICE_BYTES || n > 1 << 16)
		return 0;
	options_of(&o, bytes);
	fh_buf_init(&out, 3 * n);
	fh_buf_init(&errors, 3 * n);
	fh_buf_init(&text, 64 * n + 4096);
	fh_buf_init(&json, 64 * n + 4096);
	border = CHOICE_BYTES + (n - CHOICE_BYTES) * bytes[5] / 256;
	fuzz_must(fh_utf8_sanitize((const char *)bytes + CHOICE_BYTES, border - CHOICE_BYTES, &out) == 0);
	fuzz_must(fh_utf8_sanitize((const char *)bytes + border, n - border, &errors) == 0);
	stream_of(&r.out, &out, bytes[6] & 0x0f);
	stream_of(&r.err, &errors, bytes[6] >> 4);
	r.verdict = (enum fh_verdict)(bytes[7] % 13);
	r.message = bytes[7] & 0x80 ? errors.data : NULL;
	fuzz_must(fh_format_result(&r, &o, &text, &err) == 0);
	check_text(&o, &r, &text);
	fuzz_must(fh_result_to_json(&r, FH_RESULT_BASE64, &json) == 0);
	fuzz_must(!fh_utf8_is_binary(fh_buf_str(&json), json.len) && !memchr(json.data, '\n', json.len));
	return 0;
}
