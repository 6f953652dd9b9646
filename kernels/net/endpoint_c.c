/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_c.c - "host:port" in its two parts.  The port is a number: a name
 * from /etc/services would make a graph mean different things on two machines.
 */
#include <errno.h>
#include <string.h>

#include "scan.h"

int
hk_net_endpoint_parse(const char *text, struct hk_net_endpoint *e, struct hk_net_error *err)
{
	struct scan s = { text, 0 };
	const char *colon = strrchr(text, ':');
	const char *host = text;
	size_t len, digits;
	uint64_t port;

	memset(e, 0, sizeof *e);
	if (!colon) {
		s.at = (uint32_t)strlen(text);
		return scan_fail(&s, 0, "want host:port", err);
	}
	len = (size_t)(colon - text);
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		host = text + 1;
		len -= 2;
	} else if (memchr(text, ':', len)) {
		s.at = (uint32_t)len;
		return scan_fail(&s, 0, "write an IPv6 address in brackets: [::1]:8100", err);
	}
	if (len == 0 || len >= sizeof e->host) {
		s.at = (uint32_t)(colon - text);
		return scan_fail(&s, 0, "want a host of 1 to 253 characters before the port", err);
	}
	s.at = (uint32_t)(colon - text) + 1;
	digits = s.at;
	if (!scan_number(&s, UINT16_MAX, &port) || text[s.at])
		return scan_fail(&s, (uint32_t)digits, "want a port number from 0 to 65535", err);
	memcpy(e->host, host, len);
	len = strlen(colon + 1);
	if (len >= sizeof e->port)
		return scan_fail(&s, (uint32_t)digits, "want a port number of at most 5 digits",
				 err);
	memcpy(e->port, colon + 1, len);
	return 0;
}
