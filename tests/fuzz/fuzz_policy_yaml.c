/* Policy files in YAML. */
#include "policy_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n > FH_POLICY_FILE_BYTES_MAX)
		return 0;
	return fuzz_policy_text(bytes, n, "p.yaml");
}
