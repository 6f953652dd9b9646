/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzz target over files and folders: the corpus as a test.
 *
 * Every file is an input, and so is each of its prefixes of 1/8, 2/8, ... length.
 * Ends with 1 if there is no input at all.  A fault shows as a crash, under
 * sanitizers as their report.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

enum { MAX_BYTES = 1 << 20, PREFIXES = 8 };

static int n_inputs;

static void
replay_file(const char *path)
{
	uint8_t *data = malloc(MAX_BYTES);
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!data || !f) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(2);
	}
	n = fread(data, 1, MAX_BYTES, f);
	fclose(f);
	for (size_t i = 1; i <= PREFIXES; i++) {
		/* A copy of just that size: a read behind it is seen by the sanitizer. */
		size_t part = n * i / PREFIXES;
		uint8_t *copy = malloc(part ? part : 1);

		if (!copy)
			exit(2);
		memcpy(copy, data, part);
		LLVMFuzzerTestOneInput(copy, part);
		free(copy);
	}
	free(data);
	n_inputs++;
}

static void
replay_folder(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		replay_file(name);
	}
	if (folder)
		closedir(folder);
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			replay_folder(argv[i]);
		else
			replay_file(argv[i]);
	}
	printf("%d inputs\n", n_inputs);
	return n_inputs == 0;
}
