/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of gdb's remote serial protocol: $TEXT#CC, with CC the sum of TEXT in hexadecimal digits,
 * and acknowledgements until the client switches them off.
 */
#ifndef VMM_GDB_LINK_H
#define VMM_GDB_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* The longest packet, which the client learns as PacketSize. */
#define GDB_PACKET 0x4000

struct gdb_link {
	int fd;
	int alive;	     /* a pipe, without a writer once the session is to end */
	bool no_acks;	     /* the client has sent QStartNoAckMode */
	size_t first, count; /* the part of @bytes that was received and not taken */
	char bytes[4096];
};

/*
 * Wait for the next packet. @text gets its content and a final 0. Returns its length, or -errno:
 * -EPIPE if the client has gone, or if the session is to end.
 */
int gdb_link_read(struct gdb_link *l, char text[GDB_PACKET + 1]);

/* Send a packet. Returns 0 or -errno. */
int gdb_link_write(struct gdb_link *l, const char *text, size_t len);

/* Returns true if the client has sent an interrupt (Ctrl-C) or has gone. Does not wait. */
bool gdb_link_interrupts(struct gdb_link *l);

#endif /* VMM_GDB_LINK_H */
