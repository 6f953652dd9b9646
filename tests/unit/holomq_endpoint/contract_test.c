/* SPDX-License-Identifier: Apache-2.0 */
/* contract_test.c - what two ends must agree on: each field by name, with both values. */
#include <errno.h>
#include <string.h>

#include "endpoint.h"
#include "place.h"

static struct hmq_contract
base(void)
{
	return (struct hmq_contract){ .kind = "scan",
				      .dtype = { 2, 32, 1 },
				      .rank = 2,
				      .dim = { 128, 256 },
				      .max_bytes = 131072,
				      .layout = 77,
				      .depth = 8,
				      .policy = HMQ_BLOCK,
				      .wake = HMQ_WAKE_SLEEP };
}

static void
differs(const struct hmq_contract *want, const char *text)
{
	struct hmq_contract have = base();
	struct hmq_error err;

	assert_int_equal(hmq_contract_match("x", &have, want, &err), -EPROTO);
	assert_string_equal(err.text, text);
}

static void
each_field_is_named_with_both_values(void **state)
{
	struct hmq_contract w;

	(void)state;
	w = base(), strcpy(w.kind, "map");
	differs(&w, "endpoint x, kind: the exporter has scan, the importer wants map");
	w = base(), w.dtype = (struct hmq_dtype){ 5, 64, 2 };
	differs(&w, "endpoint x, dtype: the exporter has float32, the importer wants complex64x2");
	w = base(), w.rank = 1;
	differs(&w, "endpoint x, rank: the exporter has 2, the importer wants 1");
	w = base(), w.dim[1] = 64;
	differs(&w, "endpoint x, dim[1]: the exporter has 256, the importer wants 64");
	w = base(), w.max_bytes = 4;
	differs(&w, "endpoint x, max_bytes: the exporter has 131072, the importer wants 4");
	w = base(), w.layout = 78;
	differs(&w, "endpoint x, layout: the exporter has 77, the importer wants 78");
	w = base(), w.depth = 2;
	differs(&w, "endpoint x, depth: the exporter has 8, the importer wants 2");
	w = base(), w.policy = HMQ_DROP_NEWEST;
	differs(&w, "endpoint x, policy: the exporter has block, the importer wants drop_newest");
	w = base(), w.wake = HMQ_WAKE_SPIN;
	differs(&w, "endpoint x, wake: the exporter has sleep, the importer wants spin");
}

static void
what_is_not_wanted_may_be_anything(void **state)
{
	struct hmq_contract have = base(), want = base();
	struct hmq_contract none = { .policy = HMQ_ANY };

	(void)state;
	assert_int_equal(hmq_contract_match("x", &have, &want, NULL), 0);
	assert_int_equal(hmq_contract_match("x", &have, &none, NULL), 0);
	want.dim[0] = 0;
	assert_int_equal(hmq_contract_match("x", &have, &want, NULL), 0);
}

static void
a_contract_from_a_stranger_is_cut_to_its_bounds(void **state)
{
	struct hmq_contract have = base(), want = base();

	(void)state;
	memset(want.kind, 'k', sizeof(want.kind));
	assert_int_equal(hmq_contract_match("x", &have, &want, NULL), -EINVAL);
	want = base(), want.rank = UINT32_MAX;
	assert_int_equal(hmq_contract_match("x", &have, &want, NULL), -EINVAL);
	want = base(), want.wake = 9;
	assert_int_equal(hmq_contract_match("x", &have, &want, NULL), -EINVAL);
	want = base(), want.policy = 99;
	assert_int_equal(hmq_contract_match("x", &have, &want, NULL), -EPROTO);
}

static void
refused(struct hmq_export e)
{
	struct hmq_endpoint *ep;
	struct hmq_error err = { 0 };

	assert_int_equal(hmq_endpoint_export(&ep, &e, &err), -EINVAL);
	assert_null(ep);
	assert_true(err.text[0] != 0);
}

static void
exports_that_make_no_sense_are_refused(void **state)
{
	struct place p;
	struct hmq_export e, good;

	(void)state;
	place_open(&p);
	good = place_export(&p, HMQ_ROLE_WRITER, 0);
	e = good, e.size = 8, refused(e);
	e = good, e.role = 3, refused(e);
	e = good, e.flags = 1u << 20, refused(e);
	e = good, e.dir = NULL, refused(e);
	e = good, e.seats = HMQ_MAX_READERS + 1, refused(e);
	e = good, e.role = HMQ_ROLE_READER, e.seats = 2, refused(e);
	e = good, e.loans = HMQ_MAX_SLOTS + 1, refused(e);
	e = good, e.contract.depth = 0, refused(e);
	e = good, e.contract.depth = HMQ_MAX_SLOTS, refused(e); /* with the loans too many slots */
	e = good, e.contract.max_bytes = 0, refused(e);
	e = good, e.contract.policy = 7, refused(e);
	e = good, e.contract.rank = 9, refused(e);
	e = good, e.contract.wake = HMQ_WAKE_SPIN, e.flags = HMQ_ENDPOINT_POLLED, refused(e);
	place_close(&p);
}

static void
imports_that_make_no_sense_are_refused(void **state)
{
	struct place p;
	struct hmq_import i, good;
	struct hmq_endpoint *ep;

	(void)state;
	place_open(&p);
	good = place_import(&p, HMQ_ROLE_READER);
	i = good, i.size = 8;
	assert_int_equal(hmq_endpoint_import(&ep, &i, 0, NULL), -EINVAL);
	i = good, i.role = 0;
	assert_int_equal(hmq_endpoint_import(&ep, &i, 0, NULL), -EINVAL);
	i = good, i.contract.rank = 9;
	assert_int_equal(hmq_endpoint_import(&ep, &i, 0, NULL), -EINVAL);
	place_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_is_named_with_both_values),
		cmocka_unit_test(what_is_not_wanted_may_be_anything),
		cmocka_unit_test(a_contract_from_a_stranger_is_cut_to_its_bounds),
		cmocka_unit_test(exports_that_make_no_sense_are_refused),
		cmocka_unit_test(imports_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
