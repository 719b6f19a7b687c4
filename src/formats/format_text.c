/* Results as text for a model; see format_text.h. Cleaning is in clean.c; here are layout and budget. */
#include "formats/format_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "formats/clean.h"
#include "formats/result_json.h"
#include "formats/utf8.h"
#include "policy/words.h"

void fh_format_options_init(struct fh_format_options *o, enum fh_text_format format)
{
	*o = (struct fh_format_options){
	    .format = format,
	    .unit = FH_UNIT_CHARACTERS,
	    .head_percent = 35,
	    .clean = format == FH_TEXT_RAW ? 0 : FH_CLEAN_ALL,
	};
}

static const char *const format_names[] = {"observation", "retool", "raw"};

int fh_format_parse(const char *name, enum fh_text_format *ret, struct fh_err *err)
{
	char shown[FH_SHOWN_CAP];

	for (size_t i = 0; i < FH_ARRAY_LEN(format_names); i++) {
		if (strcmp(name, format_names[i]) != 0)
			continue;
		*ret = (enum fh_text_format)i;
		return 0;
	}
	return fh_usage(err, "there is no format %s; accepted: observation, retool, raw",
			fh_show(name, shown));
}

static int check(const struct fh_format_options *o, struct fh_err *err)
{
	if (o->head_percent > 100)
		return fh_usage(err, "the head cannot be %u %% of what is shown; accepted: 0 to 100",
				o->head_percent);
	if (o->unit == FH_UNIT_CALLER && (!o->count || !o->unit_name))
		return fh_usage(
		    err, "a budget in units of the caller needs their name and a function that counts them");
	for (size_t i = 0; i < o->n_tokens; i++) {
		size_t length, n = strlen(o->tokens[i]);
		if (!n || !fh_utf8_is_valid(o->tokens[i], n) ||
		    (fh_utf8_next(o->tokens[i], n, &length, NULL), length == n))
			return fh_usage(err, "a control token must be a text of at least 2 characters");
	}
	return 0;
}

/*** Units ***/

static size_t count(const struct fh_format_options *o, const char *text, size_t n)
{
	size_t characters = 0;

	if (o->unit == FH_UNIT_CALLER)
		return o->count(o->self, text, n);
	if (o->unit == FH_UNIT_BYTES)
		return n;
	for (size_t i = 0; i < n; i++)
		characters += ((unsigned char)text[i] & 0xc0) != 0x80;
	return characters;
}

static const char *unit_name(const struct fh_format_options *o)
{
	return o->unit == FH_UNIT_CALLER ? o->unit_name : o->unit == FH_UNIT_BYTES ? "bytes" : "characters";
}

/* The border at or before m. */
static size_t border_back(const char *text, size_t m, size_t n)
{
	while (m > 0 && m < n && ((unsigned char)text[m] & 0xc0) == 0x80)
		m--;
	return m;
}

static size_t border_forward(const char *text, size_t m, size_t n)
{
	while (m < n && ((unsigned char)text[m] & 0xc0) == 0x80)
		m++;
	return m;
}

/* The length of the longest head of at most `units`. Bytes and characters would allow a shortcut, but halving
 * costs one count of the text for each doubling of its size, and holds for every unit. */
static size_t fit_head(const struct fh_format_options *o, const char *text, size_t n, size_t units)
{
	size_t fits = 0, beyond = n + 1;

	if (o->unit == FH_UNIT_BYTES)
		return border_back(text, units < n ? units : n, n);
	while (fits + 1 < beyond) {
		size_t middle = border_back(text, fits + (beyond - fits) / 2, n);
		if (middle <= fits)
			middle = border_forward(text, fits + 1, n);
		if (middle >= beyond)
			break;
		if (count(o, text, middle) <= units)
			fits = middle;
		else
			beyond = middle;
	}
	return fits;
}

/* The start of the longest tail of at most `units`. */
static size_t fit_tail(const struct fh_format_options *o, const char *text, size_t n, size_t units)
{
	size_t fits = n, beyond = 0; /* beyond - 1 is the last start known not to fit */

	if (o->unit == FH_UNIT_BYTES)
		return border_forward(text, units < n ? n - units : 0, n);
	while (beyond < fits) {
		size_t middle = border_back(text, beyond + (fits - beyond) / 2, n);
		if (count(o, text + middle, n - middle) <= units)
			fits = middle;
		else
			beyond = border_forward(text, middle + 1, n);
	}
	return fits;
}

/*** Cleaning ***/

/* Takes `from`'s content through one step; a step that is off costs nothing. */
static int one_step(const struct fh_format_options *o, unsigned step, struct fh_buf *from)
{
	struct fh_buf to;
	int rc;

	if (!(o->clean & step) || !from->len)
		return 0;
	fh_buf_init(&to, 5 * from->len);
	if (step == FH_CLEAN_TERMINAL)
		rc = fh_clean_terminal(from->data, from->len, &to);
	else if (step == FH_CLEAN_PROGRESS)
		rc = fh_clean_progress(from->data, from->len, &to);
	else if (step == FH_CLEAN_INVISIBLE)
		rc = fh_clean_invisible(from->data, from->len, &to);
	else
		rc = fh_clean_tokens(from->data, from->len, o->tokens, o->n_tokens, &to);
	fh_buf_finish(from);
	*from = to;
	return rc;
}

static int clean(const struct fh_format_options *o, const char *text, size_t n, struct fh_buf *ret)
{
	static const unsigned steps[] = {FH_CLEAN_TERMINAL, FH_CLEAN_PROGRESS, FH_CLEAN_INVISIBLE,
					 FH_CLEAN_TOKENS};
	int rc;

	fh_buf_init(ret, n);
	rc = fh_buf_add(ret, text, n);
	for (size_t i = 0; i < FH_ARRAY_LEN(steps) && rc == 0; i++)
		rc = one_step(o, steps[i], ret);
	return rc;
}

/*** Streams ***/

/* A stream after cleaning: all of it in head, or head and tail with bytes missing between them. */
struct piece {
	struct fh_buf head, tail;
	uint64_t missing_bytes; /* what the run itself did not keep */
	size_t units;
};

static void cleanup_piece(struct piece *p)
{
	fh_buf_finish(&p->head);
	fh_buf_finish(&p->tail);
}

static int piece_of(const struct fh_format_options *o, const struct fh_stream *s, struct piece *ret)
{
	const char *text = s->text ? s->text : "";
	size_t n = s->text ? s->text_bytes : 0, head = n;
	int rc;

	if (s->bytes_total > s->bytes_kept) {
		ret->missing_bytes = s->bytes_total - s->bytes_kept;
		head = s->text_head_bytes < n ? s->text_head_bytes : n;
	}
	rc = clean(o, text, head, &ret->head);
	if (rc == 0)
		rc = clean(o, text + head, n - head, &ret->tail);
	ret->units =
	    count(o, fh_buf_str(&ret->head), ret->head.len) + count(o, fh_buf_str(&ret->tail), ret->tail.len);
	return rc;
}

static void end_line(struct fh_buf *b, size_t from)
{
	if (b->len > from && b->data[b->len - 1] != '\n')
		fh_buf_addc(b, '\n');
}

static void put_marker(struct fh_buf *b, size_t from, uint64_t n, const char *unit)
{
	end_line(b, from);
	fh_buf_addf(b, "[... %" PRIu64 " %s omitted ...]\n", n, unit);
}

/* Appends what is shown, guarded as it will stand there. */
static void put_shown(const struct fh_format_options *o, struct fh_buf *b, const char *text, size_t n)
{
	size_t from = b->len;

	if (n && fh_buf_add(b, text, n) == 0 && o->format == FH_TEXT_OBSERVATION)
		fh_clean_wrapper(b->data + from, n);
}

static size_t head_share(const struct fh_format_options *o, size_t budget)
{
	return budget / 100 * o->head_percent + budget % 100 * o->head_percent / 100;
}

/* One text of more than `budget` units: head, marker, tail. Whether anything is missing, which with a
 * caller's units need not be: a text may have more of them than its parts. */
static bool put_cut(const struct fh_format_options *o, const struct fh_buf *text, size_t budget,
		    struct fh_buf *b)
{
	size_t head_units = head_share(o, budget), from = b->len;
	size_t head = fit_head(o, text->data, text->len, head_units);
	size_t tail = head + fit_tail(o, text->data + head, text->len - head, budget - head_units);

	put_shown(o, b, text->data, head);
	if (tail > head)
		put_marker(b, from, count(o, text->data + head, tail - head), unit_name(o));
	put_shown(o, b, text->data + tail, text->len - tail);
	return tail > head;
}

/* Head and tail of a stream that had lost its middle before: both are cut towards it. */
static void put_cut_pair(const struct fh_format_options *o, const struct piece *p, size_t budget,
			 struct fh_buf *b)
{
	const char *head_text = fh_buf_str(&p->head), *tail_text = fh_buf_str(&p->tail);
	size_t head_units = count(o, head_text, p->head.len), tail_units = count(o, tail_text, p->tail.len);
	size_t mine = head_share(o, budget), from = b->len, head, tail;

	if (tail_units < budget - mine)
		mine = budget - tail_units;
	else if (head_units < mine)
		mine = head_units;
	head = fit_head(o, head_text, p->head.len, mine);
	tail = fit_tail(o, tail_text, p->tail.len, budget - mine);
	put_shown(o, b, head_text, head);
	put_marker(b, from, p->missing_bytes + (p->head.len - head) + tail, "bytes");
	put_shown(o, b, tail_text + tail, p->tail.len - tail);
}

/* Appends the stream within its part of the budget; whether anything is missing. */
static bool put_piece(const struct fh_format_options *o, const struct piece *p, size_t budget,
		      struct fh_buf *b)
{
	size_t from = b->len;
	bool fits = !o->budget || p->units <= budget;

	if (!fits && p->missing_bytes) {
		put_cut_pair(o, p, budget, b);
		return true;
	}
	if (!fits)
		return put_cut(o, &p->head, budget, b);
	put_shown(o, b, p->head.data, p->head.len);
	if (p->missing_bytes)
		put_marker(b, from, p->missing_bytes, "bytes");
	put_shown(o, b, p->tail.data, p->tail.len);
	return p->missing_bytes > 0;
}

/* Each stream may have half; what one does not need the other gets. Together they never have more than the
 * budget. */
struct shares {
	size_t out, err;
};

static struct shares share(const struct fh_format_options *o, size_t out, size_t err)
{
	size_t half = o->budget - o->budget / 2;

	if (out <= half)
		return (struct shares){out, o->budget - out};
	if (err <= o->budget - half)
		return (struct shares){o->budget - err, err};
	return (struct shares){half, o->budget - half};
}

/*** Observation ***/

static bool timed_out(const struct fh_result *r)
{
	return r->verdict == FH_VERDICT_WALL || r->verdict == FH_VERDICT_CPU;
}

static void put_header(const struct fh_format_options *o, const struct fh_result *r, bool missing,
		       struct fh_buf *b)
{
	char name[24];

	fh_buf_addf(b, "[fumehood: verdict=%s", fh_verdict_name(r->verdict));
	if (r->exit_code >= 0)
		fh_buf_addf(b, " exit_code=%d", r->exit_code);
	fh_signal_name(r->signal, name, sizeof(name));
	if (r->signal > 0)
		fh_buf_addf(b, " signal=%s", name);
	if (o->time == FH_FORMAT_TIME_SHOWN && r->wall_us < 1000000)
		fh_buf_addf(b, " wall=%" PRIu64 "ms", r->wall_us / 1000);
	else if (o->time == FH_FORMAT_TIME_SHOWN)
		fh_buf_addf(b, " wall=%" PRIu64 ".%02" PRIu64 "s", r->wall_us / 1000000,
			    r->wall_us / 10000 % 100);
	if (timed_out(r))
		fh_buf_adds(b, " TIMEOUT");
	else if (r->verdict == FH_VERDICT_MEMORY)
		fh_buf_adds(b, " OOM");
	else if (r->limit != FH_AXIS_NONE)
		fh_buf_addf(b, " limit=%s", fh_axis_name(r->limit));
	if (missing)
		fh_buf_adds(b, " TRUNCATED");
	if (r->out.binary || r->err.binary)
		fh_buf_adds(b, " BINARY");
	fh_buf_adds(b, "]\n");
}

/* The message is ours, but may quote what is not: it is cleaned like output, and kept to its line. */
static int put_message(const struct fh_format_options *o, const struct fh_result *r, const char *before,
		       const char *after, struct fh_buf *b)
{
	struct fh_buf text;
	int rc;

	if (!r->message || !*r->message)
		return 0;
	rc = clean(o, r->message, strlen(r->message), &text);
	for (size_t i = 0; rc == 0 && i < text.len; i++)
		if (text.data[i] == '\n' || text.data[i] == '\r')
			text.data[i] = ' ';
	if (rc == 0) {
		fh_clean_wrapper(text.data, text.len);
		fh_buf_adds(b, before);
		fh_buf_add(b, fh_buf_str(&text), text.len);
		fh_buf_adds(b, after);
	}
	fh_buf_finish(&text);
	return rc;
}

static bool put_section(const struct fh_format_options *o, const struct fh_stream *s, const struct piece *p,
			size_t budget, const char *title, struct fh_buf *b)
{
	bool missing;
	size_t from;

	if (!s->bytes_total && !p->units)
		return false;
	fh_buf_adds(b, title);
	from = b->len;
	missing = put_piece(o, p, budget, b);
	end_line(b, from);
	return missing;
}

static int observation(const struct fh_format_options *o, const struct fh_result *r, const struct piece *out,
		       const struct piece *err, struct fh_buf *into)
{
	struct shares shares = share(o, out->units, err->units);
	struct fh_buf body;
	bool missing;
	int rc;

	fh_buf_init(&body, into->max);
	missing = put_section(o, &r->out, out, shares.out, "--- STDOUT ---\n", &body);
	missing |= put_section(o, &r->err, err, shares.err, "--- STDERR ---\n", &body);
	put_header(o, r, missing, into);
	rc = put_message(o, r, "[fumehood: ", "]\n", into);
	if (rc == 0)
		rc = body.overflow ? -E2BIG : fh_buf_add(into, fh_buf_str(&body), body.len);
	fh_buf_finish(&body);
	return rc;
}

/*** Retool ***/

static bool is_blank(const struct piece *p)
{
	const struct fh_buf *const parts[] = {&p->head, &p->tail};

	if (p->missing_bytes)
		return false;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < parts[k]->len; i++)
			if (!strchr(" \t\r\n", parts[k]->data[i]))
				return false;
	return true;
}

/* The limit of a run that timed out, as seconds without needless decimals. */
static void put_seconds(const struct fh_result *r, struct fh_buf *b)
{
	uint64_t ms = r->limit_value ? r->limit_value : r->wall_us / 1000;
	char text[32];
	int n = snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ms / 1000, ms % 1000);

	while (n > 0 && text[n - 1] == '0')
		text[--n] = '\0';
	if (n > 0 && text[n - 1] == '.')
		text[--n] = '\0';
	fh_buf_adds(b, text);
}

static void put_end(const struct fh_result *r, struct fh_buf *b)
{
	char name[24];

	fh_signal_name(r->signal, name, sizeof(name));
	if (r->verdict == FH_VERDICT_OK)
		return;
	if (r->limit != FH_AXIS_NONE)
		fh_buf_addf(b, "Error: process ended at its %s limit.", fh_axis_name(r->limit));
	else if (r->signal > 0)
		fh_buf_addf(b, "Error: process ended by %s.", name);
	else if (r->exit_code >= 0)
		fh_buf_addf(b, "Error: process exited with code %d.", r->exit_code);
	else
		fh_buf_addf(b, "Error: process ended (%s).", fh_verdict_name(r->verdict));
}

static int retool(const struct fh_format_options *o, const struct fh_result *r, const struct piece *out,
		  const struct piece *err, struct fh_buf *into)
{
	if (r->verdict == FH_VERDICT_SANDBOX) {
		fh_buf_adds(into, "Error: the sandbox failed, not the program");
		if (put_message(o, r, ": ", "", into) < 0)
			return -E2BIG;
		return fh_buf_addc(into, '.');
	}
	if (timed_out(r)) {
		fh_buf_adds(into, "Error: execution timed out after ");
		put_seconds(r, into);
		return fh_buf_adds(into, " seconds.");
	}
	if (!is_blank(out))
		put_piece(o, out, o->budget, into);
	else if (!is_blank(err))
		put_piece(o, err, o->budget, into);
	else
		put_end(r, into);
	return 0;
}

/*** All ***/

int fh_format_result(const struct fh_result *r, const struct fh_format_options *o, struct fh_buf *into,
		     struct fh_err *err)
{
	__attribute__((cleanup(cleanup_piece))) struct piece out = {0};
	__attribute__((cleanup(cleanup_piece))) struct piece errors = {0};
	int rc = check(o, err);

	if (rc < 0)
		return rc;
	rc = piece_of(o, &r->out, &out);
	if (rc == 0)
		rc = piece_of(o, &r->err, &errors);
	if (rc == 0 && o->format == FH_TEXT_OBSERVATION) {
		rc = observation(o, r, &out, &errors, into);
	} else if (rc == 0 && o->format == FH_TEXT_RETOOL) {
		rc = retool(o, r, &out, &errors, into);
	} else if (rc == 0) {
		struct shares shares = share(o, out.units, errors.units);
		size_t from = into->len;
		put_piece(o, &out, shares.out, into);
		if (o->clean) /* no token may arise where the streams meet */
			end_line(into, from);
		put_piece(o, &errors, shares.err, into);
	}
	if (rc == -E2BIG || into->overflow)
		rc = -ENOBUFS;
	return rc < 0 ? fh_fail(err, rc, "write the result as text") : 0;
}
