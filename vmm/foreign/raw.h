/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets without side-band, and code from files of the user: ELF files, plain bytes, and page
 * dumps of kAFL and Nyx. A dump is page_cache.dump with the pages, and page_cache.addr with their
 * addresses, 8 bytes each.
 */
#ifndef VMM_FOREIGN_RAW_H
#define VMM_FOREIGN_RAW_H

#include "foreign/foreign.h"
#include "trace/pairs.h"
#include "trace/writer.h"

#define FOREIGN_RAW_CODE 64 /* maximum number of files of code */
#define FOREIGN_ANY_CR3	 UINT64_MAX

enum foreign_raw_kind { FOREIGN_RAW_ELF, FOREIGN_RAW_BYTES, FOREIGN_RAW_PAGES };

/* A file of code. */
struct foreign_raw_code {
	enum foreign_raw_kind kind;
	const char *path;
	const char *addresses; /* PAGES: path of the list of addresses */
	uint64_t at;	       /* BYTES: the address; ELF: the bias */
	uint64_t cr3;	       /* the only CR3 with this code, bits 63:12; or FOREIGN_ANY_CR3 */
};

struct foreign_raw {
	uint64_t ctl, cr3_match;
	uint64_t addr[2 * VPT_MAX_RANGES];
	uint32_t signature; /* CPUID.1:EAX; 0 if not known */
	struct foreign_raw_code code[FOREIGN_RAW_CODE];
	size_t ncode;
};

/* Pages of code by CR3 and address, into which files are loaded. All zero is empty. */
struct foreign_raw_pages {
	struct trace_pairs numbers; /* maps (CR3, address) to the index in `pages` */
	struct {
		uint8_t (*at)[TRACE_CODE_BYTES];
		size_t n, room;
	} pages;
};

/*
 * raw_code.c: load a file's code over existing pages. Returns 0, or -errno with one line in @why.
 */
int foreign_raw_load(struct foreign_raw_pages *pages, const struct foreign_raw_code *code,
		     char *why, size_t size);
void foreign_raw_pages_free(struct foreign_raw_pages *pages);

/*
 * Open @path, "-" for standard input, as the only stream of @t. Returns 0, or -errno with a line in
 * @why.
 */
int foreign_raw_read(const char *path, const struct foreign_raw *raw, struct foreign_trace *t,
		     char *why, size_t size);
/*
 * Write the stream and the code to @writer. Each CR3 of a PIP is an address space with the code of
 * any CR3 and its own code. Returns 0 or -errno.
 */
int foreign_raw_write(struct foreign_trace *t, const struct foreign_raw *raw,
		      const struct foreign_raw_pages *pages, const char *source,
		      struct trace_writer *writer);

#endif /* VMM_FOREIGN_RAW_H */
