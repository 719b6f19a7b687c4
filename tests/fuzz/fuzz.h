/* What the fuzz targets share. A target is one function of libFuzzer; linked with replay.c it is a plain
 * program that runs the corpus, as the test suite does. It states what must hold by fuzz_must(), which ends
 * the program. */
#ifndef FH_FUZZ_H
#define FH_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define fuzz_must(holds)                                                                                     \
	do {                                                                                                 \
		if (!(holds)) {                                                                              \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);           \
			abort();                                                                             \
		}                                                                                            \
	} while (0)

#endif
