/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor_test.c - payloads elsewhere: found without a copy, void when written anew. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "descriptor.h"
#include "place.h"

struct kit {
	struct hmq_buffer *buffer;
	struct hmq_cache *cache;
	struct hmq_descriptor d;
};

static void
kit_open(struct kit *k, uint64_t bytes, uint32_t places)
{
	struct hmq_error err;

	assert_int_equal(hmq_buffer_create(&k->buffer, "b", bytes, places, 0, &err), 0);
	assert_int_equal(hmq_cache_new(&k->cache, &err), 0);
	assert_int_equal(hmq_cache_import(k->cache, hmq_buffer_fd(k->buffer), &err), 1);
}

static void
kit_close(struct kit *k)
{
	hmq_cache_free(k->cache);
	hmq_buffer_free(k->buffer);
}

static void
write_place(struct kit *k, uint32_t place, const char *text)
{
	char *to = hmq_buffer_begin(k->buffer, place);

	assert_non_null(to);
	strcpy(to, text);
	assert_int_equal(hmq_buffer_finish(k->buffer, place, strlen(text) + 1, &k->d), 0);
}

static void
a_reader_finds_the_bytes_where_they_were_written(void **state)
{
	struct kit k;
	const void *data;

	(void)state;
	kit_open(&k, 1u << 20, 3);
	write_place(&k, 2, "two");
	assert_int_equal(hmq_cache_find(k.cache, &k.d, &data), 0);
	assert_string_equal(data, "two");
	write_place(&k, 0, "zero");
	assert_int_equal(hmq_cache_find(k.cache, &k.d, &data), 0);
	assert_string_equal(data, "zero");
	kit_close(&k);
}

static void
an_old_descriptor_is_void(void **state)
{
	struct kit k;
	struct hmq_descriptor old;
	const void *data;

	(void)state;
	kit_open(&k, 64, 1);
	write_place(&k, 0, "old");
	old = k.d;
	assert_non_null(hmq_buffer_begin(k.buffer, 0));
	assert_int_equal(hmq_cache_find(k.cache, &old, &data), -ESTALE); /* already while written */
	assert_null(data);
	assert_int_equal(hmq_buffer_finish(k.buffer, 0, 1, &k.d), 0);
	assert_int_equal(hmq_cache_find(k.cache, &old, &data), -ESTALE);
	assert_int_equal(hmq_cache_find(k.cache, &k.d, &data), 0);
	kit_close(&k);
}

static void
begin_and_finish_refuse_what_makes_no_sense(void **state)
{
	struct kit k;

	(void)state;
	kit_open(&k, 64, 2);
	assert_null(hmq_buffer_begin(k.buffer, 2));
	assert_int_equal(hmq_buffer_finish(k.buffer, 2, 1, &k.d), -EINVAL);
	assert_int_equal(hmq_buffer_finish(k.buffer, 0, 1, &k.d), -EINVAL); /* not begun */
	assert_non_null(hmq_buffer_begin(k.buffer, 0));
	assert_non_null(hmq_buffer_begin(k.buffer, 0)); /* begun twice is begun */
	assert_int_equal(hmq_buffer_finish(k.buffer, 0, 4097, &k.d), -EMSGSIZE);
	assert_int_equal(hmq_buffer_finish(k.buffer, 0, 4096, &k.d), 0);
	kit_close(&k);
}

static void
nonsense_in_a_descriptor_is_an_error(void **state)
{
	struct kit k;
	struct hmq_descriptor d;
	const void *data;

	(void)state;
	kit_open(&k, 64, 2);
	write_place(&k, 1, "x");
	d = k.d, d.kind = 9;
	assert_int_equal(hmq_cache_find(k.cache, &d, &data), -EBADMSG);
	d = k.d, d.kind = HMQ_DESCRIBES_CUDA_IPC;
	assert_int_equal(hmq_cache_find(k.cache, &d, &data), -ENOTSUP);
	d = k.d, d.buffer++;
	assert_int_equal(hmq_cache_find(k.cache, &d, &data), -ENOENT);
	d = k.d, d.offset++;
	assert_int_equal(hmq_cache_find(k.cache, &d, &data), -EBADMSG);
	d = k.d, d.offset += 4096;
	assert_int_equal(hmq_cache_find(k.cache, &d, &data), -EBADMSG);
	d = k.d, d.offset = UINT64_MAX;
	assert_int_equal(hmq_cache_find(k.cache, &d, &data), -EBADMSG);
	d = k.d, d.offset = 0;
	assert_int_equal(hmq_cache_find(k.cache, &d, &data), -EBADMSG);
	d = k.d, d.bytes = UINT64_MAX;
	assert_int_equal(hmq_cache_find(k.cache, &d, &data), -EBADMSG);
	kit_close(&k);
}

static void
a_buffer_is_mapped_once_and_read_only(void **state)
{
	struct kit k;
	const void *data;
	pid_t pid;

	(void)state;
	kit_open(&k, 64, 1);
	assert_int_equal(hmq_cache_import(k.cache, hmq_buffer_fd(k.buffer), NULL), 0);
	assert_int_equal(k.cache->n, 1);
	write_place(&k, 0, "x");
	assert_int_equal(hmq_cache_find(k.cache, &k.d, &data), 0);
	pid = place_fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile char *)(uintptr_t)data = 1;
		_exit(0);
	}
	assert_int_not_equal(place_reap(pid), 0);
	kit_close(&k);
}

static void
importing_refuses_what_is_no_buffer(void **state)
{
	struct hmq_segment seg;
	struct hmq_cache *c;
	struct hmq_buffer_head *h;
	int fds[2];

	(void)state;
	assert_int_equal(hmq_cache_new(&c, NULL), 0);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(hmq_cache_import(c, fds[0], NULL), -EPERM);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(hmq_cache_import(c, -1, NULL), -EPERM);
	assert_int_equal(hmq_segment_create(&seg, "s", 4096, HMQ_SEG_SHARED, NULL), 0);
	assert_int_equal(hmq_cache_import(c, seg.fd, NULL), -EBADMSG);
	hmq_segment_close(&seg);
	assert_int_equal(hmq_segment_create(&seg, "s", 3 * 4096, HMQ_SEG_SHARED, NULL), 0);
	assert_int_equal(hmq_cache_import(c, seg.fd, NULL), -EBADMSG);
	h = seg.base;
	*h = (struct hmq_buffer_head){ .magic = HMQ_BUFFER_MAGIC, .version = 9 };
	assert_int_equal(hmq_cache_import(c, seg.fd, NULL), -EPROTO);
	*h = (struct hmq_buffer_head){ .magic = HMQ_BUFFER_MAGIC,
				       .version = 1,
				       .places = 2,
				       .place_bytes = 4096,
				       .first_at = 4096,
				       .bytes = 3 * 4096 };
	assert_int_equal(hmq_cache_import(c, seg.fd, NULL), 1);
	hmq_cache_free(c);
	assert_int_equal(hmq_cache_new(&c, NULL), 0);
	h->places = 3; /* more than there is */
	h->bytes += 4096;
	assert_int_equal(hmq_cache_import(c, seg.fd, NULL), -EBADMSG);
	h->places = UINT32_MAX;
	assert_int_equal(hmq_cache_import(c, seg.fd, NULL), -EBADMSG);
	hmq_segment_close(&seg);
	hmq_cache_free(c);
}

static void
a_cache_says_when_it_is_full(void **state)
{
	struct hmq_buffer *b[HMQ_CACHE_BUFFERS + 1];
	struct hmq_cache *c;

	(void)state;
	assert_int_equal(hmq_cache_new(&c, NULL), 0);
	for (uint32_t i = 0; i <= HMQ_CACHE_BUFFERS; i++) {
		assert_int_equal(hmq_buffer_create(&b[i], "b", 1, 1, 0, NULL), 0);
		assert_int_equal(hmq_cache_import(c, hmq_buffer_fd(b[i]), NULL),
				 i < HMQ_CACHE_BUFFERS ? 1 : -ENOSPC);
	}
	for (uint32_t i = 0; i <= HMQ_CACHE_BUFFERS; i++)
		hmq_buffer_free(b[i]);
	hmq_cache_free(c);
}

static void
buffers_that_cannot_be_are_refused(void **state)
{
	struct hmq_buffer *b;

	(void)state;
	assert_int_equal(hmq_buffer_create(&b, "b", 0, 1, 0, NULL), -EINVAL);
	assert_null(b);
	assert_int_equal(hmq_buffer_create(&b, "b", 1, 0, 0, NULL), -EINVAL);
	assert_int_equal(hmq_buffer_create(&b, "b", 1, 1, 8, NULL), -EINVAL);
	assert_int_equal(hmq_buffer_create(&b, "b", HMQ_MAX_PAYLOAD, HMQ_MAX_SLOTS, 0, NULL),
			 -EOVERFLOW);
	assert_int_equal(hmq_buffer_create(&b, "b", HMQ_MAX_PAYLOAD, 64, 0, NULL), -ENOMEM);
}

static void
huge_pages_are_there_or_refused(void **state)
{
	struct hmq_buffer *b;
	struct hmq_cache *c;
	struct hmq_error err = { 0 };
	int rc = hmq_buffer_create(&b, "b", 1u << 20, 2, HMQ_BUFFER_HUGE, &err);

	(void)state;
	if (rc) {
		assert_null(b);
		assert_non_null(strstr(err.text, "huge pages refused"));
		return;
	}
	assert_int_equal(hmq_cache_new(&c, NULL), 0);
	assert_int_equal(hmq_cache_import(c, hmq_buffer_fd(b), NULL), 1);
	hmq_cache_free(c);
	hmq_buffer_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_finds_the_bytes_where_they_were_written),
		cmocka_unit_test(an_old_descriptor_is_void),
		cmocka_unit_test(begin_and_finish_refuse_what_makes_no_sense),
		cmocka_unit_test(nonsense_in_a_descriptor_is_an_error),
		cmocka_unit_test(a_buffer_is_mapped_once_and_read_only),
		cmocka_unit_test(importing_refuses_what_is_no_buffer),
		cmocka_unit_test(a_cache_says_when_it_is_full),
		cmocka_unit_test(buffers_that_cannot_be_are_refused),
		cmocka_unit_test(huge_pages_are_there_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
