// SPDX-License-Identifier: GPL-2.0-or-later
/* A client of the 9P server. */
#include "lib/p9client.h"

#include <stdarg.h>
#include <string.h>

#include "lib/require.h"

void test_p9_write(struct test_p9 *c, enum p9_type type, const char *format, ...)
{
	struct p9_out out = {c->request, P9_HEADER, sizeof(c->request), false};
	const char *text;
	va_list list;

	va_start(list, format);
	for (; *format; format++) {
		if (*format == 's') {
			text = va_arg(list, const char *);
			p9_put_text(&out, text, strlen(text));
		} else {
			p9_put(&out, va_arg(list, uint64_t), (unsigned int)(*format - '0'));
		}
	}
	va_end(list);
	REQUIRE(!out.full);
	c->bytes = out.used;
	out.used = 0;
	p9_put(&out, c->bytes, 4);
	p9_put(&out, type, 1);
	p9_put(&out, TEST_P9_TAG, 2);
}

int test_p9_send(struct test_p9 *c)
{
	size_t bytes = p9_serve(c->server, c->request, c->bytes, c->reply, c->room);
	uint8_t type;

	REQUIRE(bytes >= P9_HEADER && bytes <= c->room);
	c->in = (struct p9_in){c->reply, bytes, false};
	REQUIRE(p9_get(&c->in, 4) == bytes);
	type = (uint8_t)p9_get(&c->in, 1);
	REQUIRE(p9_get(&c->in, 2) == TEST_P9_TAG);
	if (type == P9_RLERROR) {
		REQUIRE(bytes == P9_ERROR);
		return (int)p9_get(&c->in, 4);
	}
	REQUIRE(type == c->request[4] + 1);
	return 0;
}
