// SPDX-License-Identifier: Apache-2.0
/*
 * files.c - open, read or write to the end, rename.
 *
 * Every call that may be interrupted is repeated; a failure names the path and
 * what the system said.
 */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
read_all(int fd, struct hr_arena *a, size_t limit, char **data, size_t *len)
{
	size_t cap = 64 << 10, n = 0;
	char *buf = hr_alloc_aligned(a, cap + 1, 1);

	for (;;) {
		if (n == cap) {
			char *more = hr_alloc_aligned(a, cap * 2 + 1, 1);

			memcpy(more, buf, n);
			buf = more;
			cap *= 2;
		}
		ssize_t got = read(fd, buf + n, cap - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
		if (n > limit)
			return -EFBIG;
	}
	buf[n] = '\0';
	*data = buf;
	*len = n;
	return 0;
}

int
hr_read_whole(struct hr_arena *a, const char *path, size_t limit, char **data, size_t *len,
	      struct hr_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return HR_FAIL(err, errno, "cannot open '%s': %s", path, strerrordesc_np(errno));
	struct stat st;
	int rc = fstat(fd, &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;

	/* A file known to be too large is not read at all. */
	if (!rc && S_ISREG(st.st_mode) && (uint64_t)st.st_size > limit)
		rc = -EFBIG;
	if (!rc)
		rc = read_all(fd, a, limit, data, len);
	close(fd);
	if (rc == -EFBIG)
		return HR_FAIL(err, EFBIG, "'%s' is larger than %zu bytes", path, limit);
	return rc ? HR_FAIL(err, -rc, "cannot read '%s': %s", path, strerrordesc_np(-rc)) : 0;
}

static int
write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int
hr_write_whole(const char *path, const void *data, size_t len, struct hr_error *err)
{
	char tmp[PATH_MAX];

	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return HR_FAIL(err, ENAMETOOLONG, "cannot write '%s': the path is too long", path);
	int fd = mkostemp(tmp, O_CLOEXEC);

	if (fd < 0)
		return HR_FAIL(err, errno, "cannot write '%s': %s", path, strerrordesc_np(errno));
	int rc = write_all(fd, data, len);

	if (!rc && fchmod(fd, 0644))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(tmp, path))
		rc = -errno;
	if (rc) {
		unlink(tmp);
		return HR_FAIL(err, -rc, "cannot write '%s': %s", path, strerrordesc_np(-rc));
	}
	return 0;
}

const char *
hr_dir_of(struct hr_arena *a, const char *path)
{
	char real[PATH_MAX];

	/* A link to a graph means the graph: "./x.so" starts beside the file itself. */
	if (!realpath(path, real))
		(void)snprintf(real, sizeof(real), "%s", path);
	char *slash = strrchr(real, '/');

	if (!slash)
		return hr_strdup(a, ".");
	return hr_strndup(a, real, slash == real ? 1 : (size_t)(slash - real));
}
