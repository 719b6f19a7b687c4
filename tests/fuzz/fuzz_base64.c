/* Base64: whatever decodes has exactly one text, whatever is encoded comes back. */
#include <string.h>

#include "fuzz.h"
#include "base/buf.h"
#include "formats/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fh_autobuf decoded = {0};
	fh_autobuf text = {0};
	fh_autobuf back = {0};

	fh_buf_init(&decoded, n);
	fh_buf_init(&text, 2 * n + 4);
	fh_buf_init(&back, n);
	if (fh_base64_decode((const char *)bytes, n, &decoded) == 0) {
		fuzz_must(fh_base64_encode(fh_buf_str(&decoded), decoded.len, &text) == 0);
		fuzz_must(text.len == n && memcmp(fh_buf_str(&text), bytes, n) == 0);
		fh_buf_finish(&text);
	}
	fuzz_must(fh_base64_encode(bytes, n, &text) == 0);
	fuzz_must(fh_base64_decode(fh_buf_str(&text), text.len, &back) == 0);
	fuzz_must(back.len == n && memcmp(fh_buf_str(&back), bytes, n) == 0);
	return 0;
}
