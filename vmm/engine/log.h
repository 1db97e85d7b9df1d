/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of an engine that runs code in blocks: a word for each block that ran. The observer
 * learns the instructions of a block once, when the engine makes the block.
 */
#ifndef VMM_ENGINE_LOG_H
#define VMM_ENGINE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define ENGINE_STRETCH_INSNS 64

/* The instructions of a block. Each is reached from the one before it by falling through. */
struct engine_stretch {
	uint64_t ip;   /* the RIP of the first */
	uint8_t cpl;   /* of all */
	uint8_t insns; /* 1 to ENGINE_STRETCH_INSNS */
	bool jump;     /* the last is an unconditional branch */
	struct {
		uint8_t len; /* 1 to 15 */
		bool cond;   /* it is a conditional branch */
	} insn[ENGINE_STRETCH_INSNS];
};

/*
 * The words of the log that its owner has not taken yet, from `first` to `at`. A word below
 * ENGINE_LOG_CUT is the number of a block that begins. ENGINE_LOG_CUT | n follows it if only the
 * first n instructions of the block retired. The engine calls flush() of the observer if `at` is
 * `end`, which makes room for at least one word.
 */
struct engine_log {
	uint32_t *at, *end, *first;
};

#define ENGINE_LOG_CUT 0xf0000000u

#endif /* VMM_ENGINE_LOG_H */
