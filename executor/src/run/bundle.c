/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.c - the run as JSON, from supervisor to child.
 */
#include "run/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/utf8.h"

/* ---- writing -------------------------------------------------------------------------------- */

static cJSON *
strings(const char *const *s, uint32_t n)
{
	cJSON *list = cJSON_CreateArray();

	for (uint32_t i = 0; i < n; i++)
		cJSON_AddItemToArray(list, hr_json_string(s[i]));
	return list;
}

static cJSON *
numbers(const int32_t *v, uint32_t n)
{
	cJSON *list = cJSON_CreateArray();

	for (uint32_t i = 0; i < n; i++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(v[i]));
	return list;
}

static cJSON *
files_of(const struct hr_doc *doc)
{
	cJSON *list = cJSON_CreateArray();

	for (uint32_t i = 0; i < doc->n; i++) {
		cJSON *f = cJSON_CreateObject();

		hr_json_add_text(f, "name", doc->file[i]->name);
		hr_json_add_text(f, "dir", doc->file[i]->dir);
		hr_json_add_text(f, "text", doc->file[i]->text);
		cJSON_AddItemToArray(list, f);
	}
	return list;
}

static cJSON *
settings_of(const struct hr_load_options *l)
{
	cJSON *list = cJSON_CreateArray();

	for (uint32_t i = 0; i < l->n_settings; i++) {
		cJSON *s = cJSON_CreateObject();

		hr_json_add_text(s, "name", l->setting[i].name);
		hr_json_add_text(s, "value", l->setting[i].value);
		cJSON_AddItemToArray(list, s);
	}
	return list;
}

static cJSON *
tree_of(struct hr_arena *a, const struct hr_plan *p, const struct hr_run_options *opt,
	const struct hr_wire_fds *fds, uint32_t lives)
{
	const struct hr_load_options *l = opt->load;
	cJSON *top = cJSON_CreateObject(), *f = cJSON_AddObjectToObject(top, "fds");

	hr_json_add_text(top, "file", l->file);
	cJSON_AddItemToObject(top, "files", files_of(opt->doc));
	cJSON_AddItemToObject(top, "overlays", strings(l->overlay, l->n_overlays));
	cJSON_AddItemToObject(top, "settings", settings_of(l));
	if (l->preset)
		hr_json_add_text(top, "preset", l->preset);
	if (l->endpoint_dir)
		hr_json_add_text(top, "endpoint_dir", l->endpoint_dir);
	cJSON_AddItemToObject(top, "plugin_dirs", strings(opt->dirs->dir, opt->dirs->n));
	hr_json_add_text(top, "count", hr_printf(a, "%lld", (long long)opt->count));
	hr_json_add_int(top, "log_level", opt->log_level);
	/* As text: a JSON number is a double to most readers. */
	hr_json_add_text(top, "digest", hr_printf(a, "%lld", (long long)p->digest));
	hr_json_add_int(top, "supervisor", getpid());
	hr_json_add_int(top, "lives", lives);
	hr_json_add_int(f, "page", fds->page);
	hr_json_add_int(f, "bell", fds->bell);
	cJSON_AddItemToObject(f, "chan", numbers(fds->chan, fds->n_chans));
	cJSON_AddItemToObject(f, "event", numbers(fds->event_fd, fds->n_workers));
	return top;
}

static int
write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static bool
is_text(const char *s)
{
	size_t left = s ? strlen(s) : 0, n;
	uint32_t code;

	for (; left; s += n, left -= n) {
		n = hr_utf8_next(s, left, &code);
		if (!n)
			return false;
	}
	return true;
}

/* JSON cannot carry other bytes, and a child must not work in a folder of a similar name. */
static const char *
find_odd_name(const struct hr_run_options *opt)
{
	const struct hr_load_options *l = opt->load;

	for (uint32_t i = 0; i < opt->doc->n; i++)
		if (!is_text(opt->doc->file[i]->dir))
			return "a graph lies in a folder";
	for (uint32_t i = 0; i < opt->dirs->n; i++)
		if (!is_text(opt->dirs->dir[i]))
			return "a plugin folder";
	for (uint32_t i = 0; i < l->n_settings; i++)
		if (!is_text(l->setting[i].value))
			return "-k gives a value";
	return is_text(l->file) ? NULL : "the graph is a file";
}

int
hr_bundle_write(struct hr_arena *a, const struct hr_plan *p, const struct hr_run_options *opt,
		const struct hr_wire_fds *fds, uint32_t lives, struct hr_error *err)
{
	char *text = hr_json_text(a, tree_of(a, p, opt, fds, lives), false);
	const char *odd = find_odd_name(opt);
	int fd;

	if (odd)
		return HR_FAIL(err, EILSEQ, "%s whose name is not UTF-8; give it another name",
			       odd);
	fd = memfd_create("holorun:bundle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return HR_FAIL(err, errno, "no memory file for the children: %s", strerror(errno));
	if (write_all(fd, text, strlen(text)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) {
		int e = errno;

		close(fd);
		return HR_FAIL(err, e, "cannot write the children's bundle: %s", strerror(e));
	}
	return fd;
}

/* ---- reading -------------------------------------------------------------------------------- */

static const char *
text_at(struct hr_arena *a, const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(v) ? hr_strdup(a, v->valuestring) : NULL;
}

/* Whole 64-bit numbers come as text where a double would not hold them. */
static int64_t
int_at(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	if (cJSON_IsString(v))
		return strtoll(v->valuestring, NULL, 10);
	return cJSON_IsNumber(v) && v->valuedouble > -9e15 && v->valuedouble < 9e15
		       ? (int64_t)v->valuedouble
		       : 0;
}

static const char *const *
strings_at(struct hr_arena *a, const cJSON *o, const char *key, uint32_t *n)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, key), *v;
	const char **s = HR_ARRAY(a, (size_t)cJSON_GetArraySize(list) + 1, const char *);

	*n = 0;
	cJSON_ArrayForEach(v, list)
	{
		if (cJSON_IsString(v))
			s[(*n)++] = hr_strdup(a, v->valuestring);
	}
	return s;
}

static int32_t *
numbers_at(struct hr_arena *a, const cJSON *o, const char *key, uint32_t *n)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, key), *v;
	int32_t *s = HR_ARRAY(a, (size_t)cJSON_GetArraySize(list) + 1, int32_t);

	*n = 0;
	cJSON_ArrayForEach(v, list)
	{
		s[(*n)++] = cJSON_IsNumber(v) ? v->valueint : -1;
	}
	return s;
}

static void
read_files(struct hr_arena *a, const cJSON *top, struct hr_load_options *l)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(top, "files"), *v;
	const struct hr_file **files =
		HR_ARRAY(a, (size_t)cJSON_GetArraySize(list) + 1, const struct hr_file *);

	cJSON_ArrayForEach(v, list)
	{
		const char *name = text_at(a, v, "name"), *dir = text_at(a, v, "dir");
		const char *text = text_at(a, v, "text");

		if (name && dir && text)
			files[l->n_snapshot++] = hr_file_new(a, name, dir, text, strlen(text));
	}
	l->snapshot = files;
}

static void
read_settings(struct hr_arena *a, const cJSON *top, struct hr_load_options *l)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(top, "settings"), *v;
	struct hr_setting *s = HR_ARRAY(a, (size_t)cJSON_GetArraySize(list) + 1, struct hr_setting);

	cJSON_ArrayForEach(v, list)
	{
		const char *name = text_at(a, v, "name"), *value = text_at(a, v, "value");

		if (name && value)
			s[l->n_settings++] = (struct hr_setting){ name, value };
	}
	l->setting = s;
}

static void
read_tree(struct hr_arena *a, const cJSON *top, struct hr_bundle *b)
{
	const cJSON *f = cJSON_GetObjectItemCaseSensitive(top, "fds");

	b->load.file = text_at(a, top, "file");
	b->load.preset = text_at(a, top, "preset");
	b->load.endpoint_dir = text_at(a, top, "endpoint_dir");
	b->load.overlay = strings_at(a, top, "overlays", &b->load.n_overlays);
	read_settings(a, top, &b->load);
	read_files(a, top, &b->load);
	b->dirs.dir = strings_at(a, top, "plugin_dirs", &b->dirs.n);
	b->run.count = int_at(top, "count");
	b->run.log_level = (int32_t)int_at(top, "log_level");
	b->digest = (uint64_t)int_at(top, "digest");
	b->supervisor = int_at(top, "supervisor");
	b->lives = int_at(top, "lives");
	b->fds.page = (int32_t)int_at(f, "page");
	b->fds.bell = (int32_t)int_at(f, "bell");
	b->fds.chan = numbers_at(a, f, "chan", &b->fds.n_chans);
	b->fds.event_fd = numbers_at(a, f, "event", &b->fds.n_workers);
}

int
hr_bundle_read(struct hr_arena *a, int fd, struct hr_bundle *out, struct hr_error *err)
{
	struct stat st;
	cJSON *top;
	void *map;

	*out = (struct hr_bundle){ 0 };
	if (fstat(fd, &st) || st.st_size <= 0)
		return HR_FAIL(err, EBADF, "descriptor %d is no bundle: start holorun FILE instead",
			       fd);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return HR_FAIL(err, errno, "cannot read the bundle: %s", strerror(errno));
	top = cJSON_ParseWithLength(map, (size_t)st.st_size);
	munmap(map, (size_t)st.st_size);
	if (!top)
		return HR_FAIL(err, EBADMSG, "the bundle is not JSON");
	read_tree(a, top, out);
	cJSON_Delete(top);
	if (!out->load.file || !out->load.n_snapshot)
		return HR_FAIL(err, EBADMSG, "the bundle has no graph");
	return 0;
}
