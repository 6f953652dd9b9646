/* SPDX-License-Identifier: Apache-2.0 */
/* test_net_text.c - packet headers, formats and endpoints as text: what is read, what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "hk/net.h"

static void
a_header_says_where_its_fields_are(void **state)
{
	struct hk_net_header h;
	struct hk_net_error err;

	(void)state;
	assert_int_equal(hk_net_header_parse("frame=u32@0 index=u32@4 stream=u32@8 due=i64@16 "
					     "data@64",
					     &h, &err),
			 0);
	assert_int_equal(h.data, 64);
	assert_int_equal(h.field[HK_NET_FRAME].bytes, 4);
	assert_int_equal(h.field[HK_NET_INDEX].offset, 4);
	assert_int_equal(h.field[HK_NET_DUE].bytes, 8);
	assert_int_equal(h.field[HK_NET_DUE].is_signed, 1);
	assert_int_equal(h.field[HK_NET_STAMP].bytes, 0);
	/* Without data@ the payload follows the last field, with no field at all it is everything.
	 */
	assert_int_equal(hk_net_header_parse("index=u8@9  frame=u64be@0 ", &h, &err), 0);
	assert_int_equal(h.data, 10);
	assert_int_equal(hk_net_header_parse("", &h, &err), 0);
	assert_int_equal(h.data, 0);
	assert_int_equal(hk_net_header_parse("data@8", &h, &err), 0);
	assert_int_equal(h.data, 8);
}

static void
what_is_written_is_read(void **state)
{
	static const char *const headers[] = {
		"frame=u64@0 index=u32@8 stream=u32@12 due=i64@16 stamp=i64@24",
		"frame=u64be@3 index=u32be@11 stream=u32be@15 due=i64be@20 stamp=i64be@28 data@64",
		"frame=i64@1 index=u64@9 stream=i64be@17 due=u64@25 stamp=u64be@33",
	};
	const struct hk_net_values in = { 0x0123456789abcdef, 0xfedcba98, 0x80000001, INT64_MIN + 5,
					  -7 };

	(void)state;
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
		unsigned char packet[64];
		struct hk_net_values out;
		struct hk_net_header h;
		struct hk_net_error err;

		assert_int_equal(hk_net_header_parse(headers[i], &h, &err), 0);
		hk_net_header_write(&h, packet, &in);
		assert_int_equal(hk_net_header_read(&h, packet, &out), 0);
		assert_memory_equal(&out, &in, sizeof in);
	}
}

static void
bytes_stand_as_the_type_says(void **state)
{
	const struct hk_net_values v = { .frame = 0x010203, .index = 0x0405, .due_ns = -2 };
	unsigned char packet[12];
	struct hk_net_header h;
	struct hk_net_error err;

	(void)state;
	assert_int_equal(
		hk_net_header_parse("frame=u16@0 index=u16be@2 due=i32@4 data@12", &h, &err), 0);
	memset(packet, 0xff, sizeof packet);
	hk_net_header_write(&h, packet, &v);
	assert_memory_equal(packet, "\x03\x02\x04\x05\xfe\xff\xff\xff\0\0\0\0", 12);
}

static void
narrow_signed_fields_keep_their_sign(void **state)
{
	struct hk_net_values v;
	struct hk_net_header h;
	struct hk_net_error err;

	(void)state;
	assert_int_equal(hk_net_header_parse("due=i16@0 stamp=i8@2", &h, &err), 0);
	assert_int_equal(hk_net_header_read(&h, "\xfe\xff\x80", &v), 0);
	assert_int_equal(v.due_ns, -2);
	assert_int_equal(v.stamp_ns, -128);
}

static void
impossible_values_and_wrong_constants_are_refused(void **state)
{
	struct hk_net_values v;
	struct hk_net_header h;
	struct hk_net_error err;
	unsigned char packet[16] = { 0 };

	(void)state;
	assert_int_equal(hk_net_header_parse("frame=i32@0 index=u64@4 fixed=u16@12:1024 "
					     "fixed=i8@14:-1",
					     &h, &err),
			 0);
	hk_net_header_write(&h, packet, &(struct hk_net_values){ 5, 6, 0, 0, 0 });
	assert_int_equal(packet[13], 4);
	assert_int_equal(packet[14], 0xff);
	assert_int_equal(hk_net_header_read(&h, packet, &v), 0);
	packet[14] = 0;
	assert_int_equal(hk_net_header_read(&h, packet, &v), -EBADMSG);
	packet[14] = 0xff;
	packet[3] = 0x80;
	assert_int_equal(hk_net_header_read(&h, packet, &v), -EBADMSG);
	packet[3] = 0;
	packet[8] = 1;
	assert_int_equal(hk_net_header_read(&h, packet, &v), -EBADMSG);
}

struct bad {
	const char *text;
	const char *what; /* part of the sentence */
	uint32_t at;
	uint32_t len;
};

static void
wrong_headers_are_refused_with_their_place(void **state)
{
	static const struct bad bads[] = {
		{ "frane=u32@0", "want frame=", 0, 5 },
		{ "frame:u32@0", "want = and a type", 5, 1 },
		{ "frame=u33@0", "want a type", 6, 1 },
		{ "frame=u32", "want @ and the byte offset", 9, 1 },
		{ "frame=u32@", "want a byte offset", 10, 1 },
		{ "frame=u32@-1", "want a byte offset", 10, 1 },
		{ "frame=u32@65504", "want a byte offset inside", 10, 5 },
		{ "frame=u32@99999999999999999999", "want a byte offset inside", 10, 20 },
		{ "frame=u32@0 frame=u32@4", "given twice", 12, 5 },
		{ "frame=u32@0,index=u32@4", "want a space", 0, 12 },
		{ "frame=u32@0 index=u32@2", "two fields overlap", 0, 23 },
		{ "frame=u32@0 data@3", "reaches into the payload", 0, 18 },
		{ "data@1 data@2", "data@ is given twice", 7, 5 },
		{ "data@65508", "want the byte offset of the payload", 0, 10 },
		{ "fixed=u8@0", "want : and the value", 10, 1 },
		{ "fixed=u8@0:x", "want a decimal value", 11, 1 },
		{ "fixed=u8@0:256", "does not fit", 11, 3 },
		{ "fixed=i8@0:-129", "does not fit", 11, 4 },
		{ "fixed=u64@0:-1", "does not fit", 12, 2 },
		{ "fixed=u8@0:1 fixed=u8@1:1 fixed=u8@2:1 fixed=u8@3:1 fixed=u8@4:1 fixed=u8@5:1 "
		  "fixed=u8@6:1 fixed=u8@7:1 fixed=u8@8:1",
		  "more than 8 fixed", 110, 1 },
		{ "\t", "want frame=", 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
		struct hk_net_header h;
		struct hk_net_error err = { "", 0, 0 };

		assert_int_equal(hk_net_header_parse(bads[i].text, &h, &err), -EINVAL);
		if (!strstr(err.what, bads[i].what) || err.at > strlen(bads[i].text) ||
		    err.len == 0 || err.at != bads[i].at)
			fail_msg("'%s': wanted '%s' at %u, found '%s' at %u", bads[i].text,
				 bads[i].what, bads[i].at, err.what, err.at);
	}
}

static void
a_format_has_type_lanes_and_dimensions(void **state)
{
	static const struct {
		const char *text;
		struct hk_net_format f;
	} good[] = {
		{ "i16x2[1024]", { 0, 16, 2, 1, { 1024 }, 4096 } },
		{ "f32[64, 1024]", { 2, 32, 1, 2, { 64, 1024 }, 262144 } },
		{ "c32[8]", { 5, 64, 1, 1, { 8 }, 64 } },
		{ "c64", { 5, 128, 1, 1, { 1 }, 16 } },
		{ "u8[1,2,3,4,5,6,7,8]", { 1, 8, 1, 8, { 1, 2, 3, 4, 5, 6, 7, 8 }, 40320 } },
		{ "bf16", { 4, 16, 1, 1, { 1 }, 2 } },
		{ "bool[3]", { 6, 8, 1, 1, { 3 }, 3 } },
		{ "", { 1, 8, 1, 0, { 0 }, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct hk_net_format f;
		struct hk_net_error err;

		assert_int_equal(hk_net_format_parse(good[i].text, &f, &err), 0);
		assert_memory_equal(&f, &good[i].f, sizeof f);
	}
}

static void
wrong_formats_are_refused_with_their_place(void **state)
{
	static const struct bad bads[] = {
		{ "q16[4]", "want a type", 0, 3 },
		{ "i16x[4]", "want a number of lanes", 0, 4 },
		{ "i16x0", "want a number of lanes", 0, 5 },
		{ "i16x65536", "want a number of lanes", 0, 9 },
		{ "i16[", "want a dimension", 4, 1 },
		{ "i16[0]", "want a dimension", 4, 1 },
		{ "i16[4294967296]", "want a dimension", 4, 10 },
		{ "i16[4", "want , or ]", 5, 1 },
		{ "i16[4]]", "nothing may follow", 6, 1 },
		{ "i16[4,]", "want a dimension", 6, 1 },
		{ "u8[1,1,1,1,1,1,1,1,1]", "more than 8 dimensions", 19, 1 },
		{ "f64[4294967295,4294967295]", "larger than 1 TiB", 15, 10 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
		struct hk_net_format f;
		struct hk_net_error err = { "", 0, 0 };

		assert_int_equal(hk_net_format_parse(bads[i].text, &f, &err), -EINVAL);
		if (!strstr(err.what, bads[i].what) || err.at != bads[i].at ||
		    err.len != bads[i].len)
			fail_msg("'%s': wanted '%s' at %u+%u, found '%s' at %u+%u", bads[i].text,
				 bads[i].what, bads[i].at, bads[i].len, err.what, err.at, err.len);
	}
}

static void
an_endpoint_is_host_and_port(void **state)
{
	static const char *const good[][3] = {
		{ "127.0.0.1:8100", "127.0.0.1", "8100" },
		{ "[::1]:0", "::1", "0" },
		{ "some.host:65535", "some.host", "65535" },
	};
	static const struct bad bads[] = {
		{ "8100", "want host:port", 0, 4 },       { ":8100", "want a host", 0, 1 },
		{ "[]:8100", "want a host", 0, 2 },       { "h:", "want a port number", 2, 1 },
		{ "h:http", "want a port number", 2, 1 }, { "h:65536", "want a port number", 2, 5 },
		{ "h:1x", "want a port number", 2, 1 },   { "h:000001", "at most 5 digits", 2, 6 },
		{ "::1:8100", "in brackets", 0, 3 },
	};
	struct hk_net_endpoint e;
	struct hk_net_error err;
	char longest[400];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		assert_int_equal(hk_net_endpoint_parse(good[i][0], &e, &err), 0);
		assert_string_equal(e.host, good[i][1]);
		assert_string_equal(e.port, good[i][2]);
	}
	for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
		assert_int_equal(hk_net_endpoint_parse(bads[i].text, &e, &err), -EINVAL);
		if (!strstr(err.what, bads[i].what) || err.at != bads[i].at)
			fail_msg("'%s': wanted '%s' at %u, found '%s' at %u", bads[i].text,
				 bads[i].what, bads[i].at, err.what, err.at);
	}
	memset(longest, 'h', sizeof longest);
	strcpy(longest + 254, ":1");
	assert_int_equal(hk_net_endpoint_parse(longest, &e, &err), -EINVAL);
	strcpy(longest + 253, ":1");
	assert_int_equal(hk_net_endpoint_parse(longest, &e, &err), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_says_where_its_fields_are),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(bytes_stand_as_the_type_says),
		cmocka_unit_test(narrow_signed_fields_keep_their_sign),
		cmocka_unit_test(impossible_values_and_wrong_constants_are_refused),
		cmocka_unit_test(wrong_headers_are_refused_with_their_place),
		cmocka_unit_test(a_format_has_type_lanes_and_dimensions),
		cmocka_unit_test(wrong_formats_are_refused_with_their_place),
		cmocka_unit_test(an_endpoint_is_host_and_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
