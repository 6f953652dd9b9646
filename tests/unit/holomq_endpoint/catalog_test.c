/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_test.c - SHA-256 against its vectors, canonical JSON, and when a catalog is written. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "catalog.h"
#include "place.h"

static void
sha256_agrees_with_the_standards_vectors(void **state)
{
	/* FIPS 180-4 examples, and the empty text. */
	static const struct {
		const char *text;
		const char *sum;
	} vector[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		  "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	};
	char sum[65];

	(void)state;
	for (size_t i = 0; i < sizeof(vector) / sizeof(vector[0]); i++) {
		hmq_sha256_hex(vector[i].text, strlen(vector[i].text), sum);
		assert_string_equal(sum, vector[i].sum);
	}
}

static void
sha256_of_a_million_letters_in_uneven_pieces(void **state)
{
	static const uint8_t want[4] = { 0xcd, 0xc7, 0x6e, 0x5c };
	char piece[997];
	struct hmq_sha256 s;
	uint8_t sum[32];
	size_t left = 1000000;

	(void)state;
	memset(piece, 'a', sizeof(piece));
	hmq_sha256_begin(&s);
	while (left > 0) {
		size_t n = left < sizeof(piece) ? left : sizeof(piece);

		hmq_sha256_add(&s, piece, n);
		left -= n;
	}
	hmq_sha256_end(&s, sum);
	assert_memory_equal(sum, want, sizeof(want));
}

static void
json_escapes_what_json_demands_and_no_more(void **state)
{
	char text[128];
	struct hmq_json j;

	(void)state;
	hmq_json_init(&j, text, sizeof(text));
	hmq_json_open(&j, '{');
	hmq_json_key(&j, "a");
	hmq_json_text(&j, "\"\\/\b\f\n\r\t\x01\xc3\xa9");
	hmq_json_key(&j, "b");
	hmq_json_open(&j, '[');
	hmq_json_int(&j, INT64_MIN);
	hmq_json_uint(&j, UINT64_MAX);
	hmq_json_close(&j, ']');
	hmq_json_close(&j, '}');
	hmq_json_end(&j);
	assert_string_equal(text, "{\"a\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\xc3\xa9\","
				  "\"b\":[-9223372036854775808,18446744073709551615]}");
}

static void
json_that_does_not_fit_is_counted_and_cut(void **state)
{
	char text[4] = { 'z', 'z', 'z', 'z' };
	struct hmq_json j;

	(void)state;
	hmq_json_init(&j, text, sizeof(text));
	hmq_json_text(&j, "abcdef");
	assert_int_equal(hmq_json_end(&j), 8);
	assert_string_equal(text, "\"ab");
}

static void
catalog_is_sorted_canonical_and_its_digest_is_of_the_rest(void **state)
{
	struct place p;
	struct hmq_export list[2];
	char text[2048], rest[2048], sum[65];
	int64_t n;

	(void)state;
	place_open(&p);
	list[0] = place_export(&p, HMQ_ROLE_WRITER, 0);
	list[1] = place_export(&p, HMQ_ROLE_READER, 0);
	list[0].name = "b";
	list[1].name = "a";
	n = hmq_catalog_text(list, 2, text, sizeof(text), NULL);
	assert_int_equal(n, strlen(text));
	assert_int_equal(hmq_catalog_text(list, 2, NULL, 0, NULL), n);
	assert_string_equal(
		text + 10 + 65 + 1,
		",\"endpoints\":[{\"contract\":{\"depth\":4,\"dim\":[1],\"dtype\":\"uint64\","
		"\"kind\":\"number\",\"layout\":0,\"max_bytes\":8,\"policy\":\"block\","
		"\"wake\":\"any\"},\"keeps\":0,\"loans\":1,\"name\":\"a\",\"role\":\"reader\","
		"\"seats\":1,\"wire\":1},{\"contract\":{\"depth\":4,\"dim\":[1],"
		"\"dtype\":\"uint64\",\"kind\":\"number\",\"layout\":0,\"max_bytes\":8,"
		"\"policy\":\"block\",\"wake\":\"any\"},\"keeps\":0,\"loans\":1,\"name\":\"b\","
		"\"role\":\"writer\",\"seats\":1,\"wire\":1}],\"holomq\":1}");
	snprintf(rest, sizeof(rest), "{%s", text + 10 + 65 + 2);
	hmq_sha256_hex(rest, strlen(rest), sum);
	assert_memory_equal(text, "{\"digest\":\"", 11);
	assert_memory_equal(text + 11, sum, 64);
	place_close(&p);
}

static void
catalog_is_written_only_when_it_differs(void **state)
{
	struct place p;
	struct hmq_export e;
	struct stat before, after;
	char path[256];

	(void)state;
	place_open(&p);
	e = place_export(&p, HMQ_ROLE_WRITER, 0);
	snprintf(path, sizeof(path), "%s", place_path(&p, "catalog.json"));
	assert_int_equal(hmq_catalog_write(path, &e, 1, NULL), 1);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(hmq_catalog_write(path, &e, 1, NULL), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	e.contract.depth = 5; /* the same length, another text */
	assert_int_equal(hmq_catalog_write(path, &e, 1, NULL), 1);
	assert_int_equal(stat(path, &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino);
	assert_int_equal(hmq_catalog_write(path, &e, 0, NULL), 1);
	unlink(path);
	place_close(&p);
}

static void
catalog_refusals_name_the_cause(void **state)
{
	struct place p;
	struct hmq_export list[2];
	struct hmq_error err;

	(void)state;
	place_open(&p);
	list[0] = list[1] = place_export(&p, HMQ_ROLE_WRITER, 0);
	assert_int_equal(hmq_catalog_text(list, 2, NULL, 0, &err), -EINVAL);
	assert_string_equal(err.text, "catalog: two endpoints are named x");
	assert_int_equal(hmq_catalog_write("/nowhere/c", list, 2, &err), -EINVAL);
	assert_int_equal(hmq_catalog_write("/nowhere/c", list, 1, &err), -ENOENT);
	/* A folder in the way: the temporary file does not stay. */
	assert_int_equal(mkdir(place_path(&p, "c"), 0700), 0);
	assert_int_equal(hmq_catalog_write(place_path(&p, "c"), list, 1, &err), -EISDIR);
	rmdir(place_path(&p, "c"));
	list[0].contract.depth = 0;
	assert_int_equal(hmq_catalog_text(list, 1, NULL, 0, &err), -EINVAL);
	place_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_agrees_with_the_standards_vectors),
		cmocka_unit_test(sha256_of_a_million_letters_in_uneven_pieces),
		cmocka_unit_test(json_escapes_what_json_demands_and_no_more),
		cmocka_unit_test(json_that_does_not_fit_is_counted_and_cut),
		cmocka_unit_test(catalog_is_sorted_canonical_and_its_digest_is_of_the_rest),
		cmocka_unit_test(catalog_is_written_only_when_it_differs),
		cmocka_unit_test(catalog_refusals_name_the_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
