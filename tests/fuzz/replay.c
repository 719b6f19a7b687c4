/* Runs a fuzz target over files and folders of files: usage: fuzz_NAME PATH... */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"

#define INPUT_BYTES_MAX (16u << 20)

static size_t replayed;

static int replay_file(int dirfd, const char *name)
{
	fh_autobuf input = {0};
	uint8_t *exact;
	int rc;

	fh_buf_init(&input, INPUT_BYTES_MAX);
	rc = fh_read_file_at(dirfd, name, &input);
	if (rc < 0) {
		fprintf(stderr, "read '%s': %s\n", name, strerror(-rc));
		return rc;
	}
	/* A block of exactly that size, so that a sanitizer sees one byte too many. */
	exact = malloc(input.len ? input.len : 1);
	if (!exact)
		return -ENOMEM;
	if (input.len)
		memcpy(exact, input.data, input.len);
	LLVMFuzzerTestOneInput(exact, input.len);
	free(exact);
	replayed++;
	return 0;
}

static int replay_folder(const char *path)
{
	fh_autodir DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir) {
		fprintf(stderr, "open '%s': %s\n", path, strerror(errno));
		return -errno;
	}
	while ((entry = readdir(dir))) {
		int rc = entry->d_name[0] == '.' ? 0 : replay_file(dirfd(dir), entry->d_name);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct stat st;
		int rc = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode) ? replay_folder(argv[i])
									: replay_file(AT_FDCWD, argv[i]);
		if (rc < 0)
			return 1;
	}
	printf("%zu inputs replayed\n", replayed);
	return replayed ? 0 : 1;
}
