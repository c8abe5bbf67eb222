// SPDX-License-Identifier: GPL-2.0-or-later
/* The header Host of a request (RFC 9110, 7.2). */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "http.h"

static bool is_address(int family, const char *text, size_t len)
{
	char copy[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return inet_pton(family, copy, &address) == 1;
}

/* ":" and digits, or nothing */
static bool is_port(const char *text)
{
	return !*text || (*text == ':' && !text[1 + strspn(text + 1, "0123456789")]);
}

bool http_host_has_no_name(const char *host)
{
	size_t len = strcspn(host, *host == '[' ? "]" : ":");

	if (*host == '[')
		return host[len] && is_address(AF_INET6, host + 1, len - 1) &&
		       is_port(host + len + 1);
	return is_port(host + len) &&
	       (is_address(AF_INET, host, len) ||
		(len == strlen("localhost") && !strncasecmp(host, "localhost", len)));
}
