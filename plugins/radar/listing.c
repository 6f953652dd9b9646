/* SPDX-License-Identifier: Apache-2.0 */
/* listing.c - see listing.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "listing.h"

enum { CHUNK = 4096, LINE_MAX_BYTES = 96 };

int
listing_open(struct listing *l, const struct hop_ctx *ctx, const char *path, uint64_t room)
{
	*l = (struct listing){ .room = room, .fd = -1 };
	l->at = radar_alloc(ctx, room * sizeof *l->at, "the lines of `file`");
	if (!l->at)
		return -ENOMEM;
	l->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (l->fd < 0) {
		int err = errno;

		ctx->host->free(ctx, l->at);
		l->at = NULL;
		return HOP_FAIL(ctx, err, "file: cannot create %s", path);
	}
	return 0;
}

void
listing_add(struct listing *l, uint64_t frame, const struct hk_detections *d)
{
	if (!l->at)
		return;
	for (uint32_t i = 0; i < d->count; i++) {
		if (l->count == l->room) {
			l->lost += d->count - i;
			return;
		}
		l->at[l->count++] = (struct listing_line){ .frame = frame, .d = d->at[i] };
	}
}

static int
write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
write_lines(const struct listing *l)
{
	char text[CHUNK];
	size_t len = 0;
	int rc = 0;

	for (uint64_t i = 0; i < l->count && !rc; i++) {
		const struct listing_line *line = &l->at[i];

		len += (size_t)snprintf(text + len, sizeof text - len, "%llu %u %u %a\n",
					(unsigned long long)line->frame, line->d.range,
					line->d.doppler, (double)line->d.power);
		if (len > sizeof text - LINE_MAX_BYTES) {
			rc = write_all(l->fd, text, len);
			len = 0;
		}
	}
	if (!rc && l->lost)
		len += (size_t)snprintf(text + len, sizeof text - len, "# %llu more\n",
					(unsigned long long)l->lost);
	return rc ? rc : write_all(l->fd, text, len);
}

void
listing_close(struct listing *l, const struct hop_ctx *ctx, const char *path)
{
	int rc;

	if (!l->at)
		return;
	rc = write_lines(l);
	if (close(l->fd) && !rc)
		rc = -errno;
	if (rc)
		HOP_LOG(ctx, HOP_LOG_ERROR, "file: cannot write %s: %s", path, strerror(-rc));
	ctx->host->free(ctx, l->at);
	l->at = NULL;
}
