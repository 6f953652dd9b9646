/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.c - what endpoints a program has, as a file for others to read.
 *
 *   {"digest":"<sha256>","endpoints":[{...},...],"holomq":1}
 *
 * The digest is that of the same text without its "digest" member.  The file is
 * written only when it would differ, so that its time stamp tells when a contract
 * changed, and whole or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog.h"
#include "endpoint.h"
#include "layout.h"

const char *
hmq_policy_word(uint32_t policy)
{
	static const char *const word[] = { "block", "drop_newest", "fail", "drop_oldest" };

	return policy < sizeof(word) / sizeof(word[0]) ? word[policy] : "?";
}

const char *
hmq_wake_word(uint32_t wake)
{
	static const char *const word[] = { "any", "sleep", "spin" };

	return wake < sizeof(word) / sizeof(word[0]) ? word[wake] : "?";
}

void
hmq_dtype_word(struct hmq_dtype t, char out[24])
{
	static const char *const word[] = { "int",    "uint",    "float", "handle",
					    "bfloat", "complex", "bool" };
	const char *name = t.code < sizeof(word) / sizeof(word[0]) ? word[t.code] : "code?";
	int n = snprintf(out, 24, "%s%u", name, t.bits);

	if (t.lanes > 1 && n > 0 && n < 24)
		(void)snprintf(out + n, 24 - (size_t)n, "x%u", t.lanes);
	if (t.bits == 0)
		(void)snprintf(out, 24, "bytes");
}

void
hmq_contract_json(struct hmq_json *j, const struct hmq_contract *c)
{
	char dtype[24];

	hmq_dtype_word(c->dtype, dtype);
	hmq_json_key(j, "depth");
	hmq_json_uint(j, c->depth);
	hmq_json_key(j, "dim");
	hmq_json_open(j, '[');
	for (uint32_t i = 0; i < c->rank && i < HMQ_MAX_RANK; i++)
		hmq_json_uint(j, c->dim[i]);
	hmq_json_close(j, ']');
	hmq_json_key(j, "dtype");
	hmq_json_text(j, dtype);
	hmq_json_key(j, "kind");
	hmq_json_text(j, c->kind);
	hmq_json_key(j, "layout");
	hmq_json_uint(j, c->layout);
	hmq_json_key(j, "max_bytes");
	hmq_json_uint(j, c->max_bytes);
	hmq_json_key(j, "policy");
	hmq_json_text(j, hmq_policy_word(c->policy));
	hmq_json_key(j, "wake");
	hmq_json_text(j, hmq_wake_word(c->wake));
}

static void
one(struct hmq_json *j, const struct hmq_export *e)
{
	hmq_json_open(j, '{');
	hmq_json_key(j, "contract");
	hmq_json_open(j, '{');
	hmq_contract_json(j, &e->contract);
	hmq_json_close(j, '}');
	hmq_json_key(j, "keeps");
	hmq_json_uint(j, e->keeps);
	hmq_json_key(j, "loans");
	hmq_json_uint(j, e->loans ? e->loans : 1);
	hmq_json_key(j, "name");
	hmq_json_text(j, e->name);
	hmq_json_key(j, "role");
	hmq_json_text(j, e->role == HMQ_ROLE_WRITER ? "writer" : "reader");
	hmq_json_key(j, "seats");
	hmq_json_uint(j, e->seats ? e->seats : 1);
	hmq_json_key(j, "wire");
	hmq_json_uint(j, HMQ_WIRE_VERSION);
	hmq_json_close(j, '}');
}

/* The next one after `last` by name; the list itself stays as it is. */
static const struct hmq_export *
next_by_name(const struct hmq_export *list, uint32_t n, const struct hmq_export *last)
{
	const struct hmq_export *best = NULL;

	for (uint32_t i = 0; i < n; i++) {
		if (last && strcmp(list[i].name, last->name) <= 0)
			continue;
		if (!best || strcmp(list[i].name, best->name) < 0)
			best = &list[i];
	}
	return best;
}

static void
members(struct hmq_json *j, const struct hmq_export *list, uint32_t n)
{
	const struct hmq_export *e = NULL;

	hmq_json_key(j, "endpoints");
	hmq_json_open(j, '[');
	while ((e = next_by_name(list, n, e)) != NULL)
		one(j, e);
	hmq_json_close(j, ']');
	hmq_json_key(j, "holomq");
	hmq_json_uint(j, 1);
}

static size_t
whole(const struct hmq_export *list, uint32_t n, const char *digest, char *text, size_t size)
{
	struct hmq_json j;

	hmq_json_init(&j, text, size);
	hmq_json_open(&j, '{');
	if (digest) {
		hmq_json_key(&j, "digest");
		hmq_json_text(&j, digest);
	}
	members(&j, list, n);
	hmq_json_close(&j, '}');
	return hmq_json_end(&j);
}

static int
check(const struct hmq_export *list, uint32_t n, struct hmq_error *err)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hmq_export full = list[i];
		int rc = hmq_export_check(&full, err);

		if (rc)
			return rc;
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(list[i].name, list[k].name) == 0)
				return hmq_fail(err, EINVAL, "catalog: two endpoints are named %s",
						list[i].name);
	}
	return 0;
}

int64_t
hmq_catalog_text(const struct hmq_export *list, uint32_t n, char *text, size_t size,
		 struct hmq_error *err)
{
	int rc = check(list, n, err);
	char digest[65];
	char *bare;
	size_t bytes;

	if (rc)
		return rc;
	bytes = whole(list, n, NULL, NULL, 0);
	bare = hmq_alloc(bytes + 1);
	if (!bare)
		return hmq_fail(err, ENOMEM, "no memory for a catalog of %u endpoints", n);
	whole(list, n, NULL, bare, bytes + 1);
	hmq_sha256_hex(bare, bytes, digest);
	hmq_dealloc(bare);
	return (int64_t)whole(list, n, digest, text, size);
}

/* ---- the file --------------------------------------------------------------------------- */

static int
is_same(const char *path, const char *text, size_t bytes)
{
	char part[4096];
	struct stat st;
	size_t at = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == bytes)
		while (at < bytes && (n = read(fd, part, sizeof(part))) > 0 &&
		       (size_t)n <= bytes - at && memcmp(part, text + at, (size_t)n) == 0)
			at += (size_t)n;
	close(fd);
	return at == bytes;
}

static int
write_all(int fd, const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int
replace(const char *path, const char *text, size_t bytes, struct hmq_error *err)
{
	char tmp[4096];
	int n = snprintf(tmp, sizeof(tmp), "%s.%d.tmp", path, (int)getpid());
	int fd, rc;

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return hmq_fail(err, ENAMETOOLONG, "catalog: the path is too long");
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return hmq_fail(err, errno, "catalog %s: %s", path, strerrordesc_np(errno));
	rc = write_all(fd, text, bytes);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(tmp, path))
		rc = -errno;
	if (rc) {
		unlink(tmp);
		return hmq_fail(err, -rc, "catalog %s: %s", path, strerrordesc_np(-rc));
	}
	return 1;
}

int
hmq_catalog_write(const char *path, const struct hmq_export *list, uint32_t n,
		  struct hmq_error *err)
{
	int64_t bytes = hmq_catalog_text(list, n, NULL, 0, err);
	char *text;
	int rc = 0;

	if (bytes < 0)
		return (int)bytes;
	text = hmq_alloc((size_t)bytes + 2);
	if (!text)
		return hmq_fail(err, ENOMEM, "no memory for a catalog of %u endpoints", n);
	bytes = hmq_catalog_text(list, n, text, (size_t)bytes + 1, err);
	if (bytes < 0) {
		rc = (int)bytes;
	} else {
		text[bytes] = '\n'; /* a text file ends with one; it is not digested */
		if (!is_same(path, text, (size_t)bytes + 1))
			rc = replace(path, text, (size_t)bytes + 1, err);
	}
	hmq_dealloc(text);
	return rc;
}
