/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The closed keys of a gather: the last HR_KEYS are found, older ones are
 * forgotten, whatever the order and however they collide.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run/keys.h"

static bool
has(const struct hr_keys *k, uint64_t frame, uint32_t stream)
{
	return hr_keys_find(k, &(struct hr_key){ frame, stream, 0 }) != NULL;
}

static void
frame_and_stream_both_count(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_keys *k = hr_keys_new(a);

	(void)state;
	hr_keys_add(k, &(struct hr_key){ 7, 1, 1 });
	assert_true(has(k, 7, 1));
	assert_false(has(k, 7, 2));
	assert_false(has(k, 1, 7));
	assert_int_equal(hr_keys_find(k, &(struct hr_key){ 7, 1, 0 })->shed, 1);
	hr_arena_free(a);
}

static void
the_oldest_makes_room(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_keys *k = hr_keys_new(a);

	(void)state;
	for (uint64_t i = 0; i < 5 * HR_KEYS; i++) {
		hr_keys_add(k, &(struct hr_key){ i, 0, 0 });
		assert_true(has(k, i, 0));
		if (i >= HR_KEYS) {
			assert_false(has(k, i - HR_KEYS, 0));
			assert_true(has(k, i - HR_KEYS + 1, 0));
		}
	}
	hr_arena_free(a);
}

/* Against a plain list, with keys from a small range so that they come and go and collide. */
static void
random_keys_agree_with_a_list(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_keys *k = hr_keys_new(a);
	struct hr_key *list = HR_ARRAY(a, 40000, struct hr_key);
	uint32_t n = 0;
	uint64_t seed = 12345;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct hr_key key = { 0 };
		bool there = false;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		key.frame = (seed >> 33) % 1500 * 4096; /* multiples: bad for weak hashes */
		key.stream = (uint32_t)(seed >> 60);
		for (uint32_t j = n > HR_KEYS ? n - HR_KEYS : 0; j < n; j++)
			there |= hr_key_equal(&list[j], &key);
		assert_int_equal(there, hr_keys_find(k, &key) != NULL);
		if (!there) {
			hr_keys_add(k, &key);
			list[n++] = key;
		}
	}
	assert_true(n > HR_KEYS);
	hr_arena_free(a);
}

static void
what_is_forgotten_may_come_again(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_keys *k = hr_keys_new(a);

	(void)state;
	for (int life = 0; life < 3; life++) {
		for (uint64_t i = 0; i < HR_KEYS + 100; i++) {
			assert_null(hr_keys_find(k, &(struct hr_key){ i, 0, 0 }));
			hr_keys_add(k, &(struct hr_key){ i, 0, 0 });
		}
		hr_keys_forget(k);
	}
	hr_arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_and_stream_both_count),
		cmocka_unit_test(the_oldest_makes_room),
		cmocka_unit_test(random_keys_agree_with_a_list),
		cmocka_unit_test(what_is_forgotten_may_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
