/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and texts of 9P messages, and the numbers of 9P2000.L. */
#ifndef VMM_P9_WIRE_H
#define VMM_P9_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The requests. The type of a reply is one more. */
enum p9_type {
	P9_RLERROR = 7,
	P9_TSTATFS = 8,
	P9_TLOPEN = 12,
	P9_TLCREATE = 14,
	P9_TSYMLINK = 16,
	P9_TMKNOD = 18,
	P9_TRENAME = 20,
	P9_TREADLINK = 22,
	P9_TGETATTR = 24,
	P9_TSETATTR = 26,
	P9_TXATTRWALK = 30,
	P9_TXATTRCREATE = 32,
	P9_TREADDIR = 40,
	P9_TFSYNC = 50,
	P9_TLOCK = 52,
	P9_TGETLOCK = 54,
	P9_TLINK = 70,
	P9_TMKDIR = 72,
	P9_TRENAMEAT = 74,
	P9_TUNLINKAT = 76,
	P9_TVERSION = 100,
	P9_TAUTH = 102,
	P9_TATTACH = 104,
	P9_TFLUSH = 108,
	P9_TWALK = 110,
	P9_TREAD = 116,
	P9_TWRITE = 118,
	P9_TCLUNK = 120,
	P9_TREMOVE = 122,
	P9_TYPES = 128
};

/* Size of a message (4 bytes), type, tag (2 bytes). */
#define P9_HEADER 7u
/* The header and a count of 4 bytes, in replies with data. */
#define P9_DATA	    (P9_HEADER + 4u)
#define P9_ERROR    (P9_HEADER + 4u)
#define P9_QID	    13u
#define P9_NO_FID   0xffffffffu
#define P9_WALK_MAX 16u
#define P9_NAME_MAX 255u

/* Flags of Tlopen and Tlcreate. They are Linux's. */
enum p9_open_flags {
	P9_OPEN_ACCESS = 3,
	P9_OPEN_WRITE = 1,
	P9_OPEN_BOTH = 2,
	P9_OPEN_EXCL = 0200,
	P9_OPEN_TRUNC = 01000,
	P9_OPEN_APPEND = 02000,
};

enum p9_qid_type { P9_QID_FILE = 0, P9_QID_LINK = 2, P9_QID_DIR = 0x80 };

/* The unread part of a request. */
struct p9_in {
	const uint8_t *at;
	size_t left;
	bool bad; /* the request was too short for a field */
};

/* A text in a request. It has no NUL behind it. */
struct p9_text {
	const char *at;
	size_t len;
};

/* A reply. */
struct p9_out {
	uint8_t *bytes;
	size_t used, room;
	bool full; /* a field did not fit */
};

/* Read a number of @bytes bytes, or a text. If the request is too short, return 0 or "". */
uint64_t p9_get(struct p9_in *in, unsigned int bytes);
struct p9_text p9_get_text(struct p9_in *in);
/* Append a number of @bytes bytes, or a text of at most 65535 bytes. */
void p9_put(struct p9_out *out, uint64_t value, unsigned int bytes);
void p9_put_text(struct p9_out *out, const char *text, size_t len);
/* Append the qid of a path. */
void p9_put_qid(struct p9_out *out, enum p9_qid_type type, const char *path);
bool p9_is_text(const struct p9_text *text, const char *is);

#endif /* VMM_P9_WIRE_H */
