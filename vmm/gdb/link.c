// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets of gdb's remote serial protocol, over a connected socket. */
#include "gdb/link.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "gdb/hex.h"

#define INTERRUPT 3

/* Receive more bytes. Returns 0 or -errno. */
static int receive(struct gdb_link *l)
{
	struct pollfd in[2] = {{.fd = l->fd, .events = POLLIN}, {.fd = l->alive}};
	ssize_t n = 0;

	/* A signal that ends vpt closes the pipe. */
	while (!in[0].revents && !in[1].revents)
		(void)poll(in, 2, -1);
	if (!in[1].revents)
		n = read(l->fd, l->bytes, sizeof(l->bytes));
	l->first = 0;
	l->count = n > 0 ? (size_t)n : 0;
	return n > 0 ? 0 : n ? -errno : -EPIPE;
}

/* Returns the next byte, or -errno. */
static int next(struct gdb_link *l)
{
	int error = l->count ? 0 : receive(l);

	if (error)
		return error;
	l->count--;
	return (uint8_t)l->bytes[l->first++];
}

static int send_all(struct gdb_link *l, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(l->fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* Read the content of a packet and its sum. Returns its length, -EBADMSG, or another -errno. */
static int content(struct gdb_link *l, char *text)
{
	unsigned int len = 0, high, low;
	uint8_t sum = 0;
	int c;

	while ((c = next(l)) >= 0 && c != '#') {
		sum = (uint8_t)(sum + c);
		if (len < GDB_PACKET)
			text[len] = (char)c;
		len++;
	}
	if (c < 0)
		return c;
	c = next(l);
	if (c < 0)
		return c;
	high = gdb_hex_digit((char)c);
	c = next(l);
	if (c < 0)
		return c;
	low = gdb_hex_digit((char)c);
	if (len > GDB_PACKET || high > 15 || low > 15 || (high << 4 | low) != sum)
		return -EBADMSG;
	text[len] = 0;
	return (int)len;
}

int gdb_link_read(struct gdb_link *l, char text[GDB_PACKET + 1])
{
	int c, len;

	for (;;) {
		/* Acknowledgements and late interrupts come between packets. */
		while ((c = next(l)) >= 0 && c != '$')
			;
		if (c < 0)
			return c;
		len = content(l, text);
		if (len < 0 && len != -EBADMSG)
			return len;
		if (!l->no_acks) {
			const int error = send_all(l, len < 0 ? "-" : "+", 1);

			if (error)
				return error;
		}
		if (len >= 0)
			return len;
	}
}

int gdb_link_write(struct gdb_link *l, const char *text, size_t len)
{
	char end[3] = "#";
	uint8_t sum = 0;
	size_t i;
	int error;

	for (i = 0; i < len; i++)
		sum = (uint8_t)(sum + (uint8_t)text[i]);
	gdb_hex_put(end + 1, &sum, 1);
	error = send_all(l, "$", 1);
	if (!error)
		error = send_all(l, text, len);
	return error ? error : send_all(l, end, sizeof(end));
}

bool gdb_link_interrupts(struct gdb_link *l)
{
	struct pollfd in[2] = {{.fd = l->fd, .events = POLLIN}, {.fd = l->alive}};

	if (!l->count && poll(in, 2, 0) <= 0)
		return false;
	if (!l->count && receive(l))
		return true;
	/* A client that waits for a stop sends nothing else but acknowledgements. */
	while (l->count && l->bytes[l->first] != INTERRUPT && l->bytes[l->first] != '$') {
		l->first++;
		l->count--;
	}
	if (!l->count || l->bytes[l->first] != INTERRUPT)
		return false;
	l->first++;
	l->count--;
	return true;
}
