/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle log of a CPU: shared/include/vpt/abi/oracle_log.h. */
#ifndef BX_VPT_ORACLE_H
#define BX_VPT_ORACLE_H

#include <stdio.h>
#include <map>
#include <unordered_map>

#include "shared/include/vpt/abi/oracle_log.h"
#include "shared/include/vpt/pt.h"

class BX_CPU_C;
class bxInstruction_c;

class bx_oracle_c
{
public:
	bx_oracle_c(BX_CPU_C *cpu, const struct vpt_pt *pt);

	/* Begin the log, or go on with it; false: there is no writing to `path`. */
	bool start(const char *path);
	void stop();
	void close();

	/* Around an instruction, while the log is on. */
	void step_begins(const bxInstruction_c *i);
	void step_ends();
	/* The instruction that is being executed is sure to retire, or not to. */
	void retire();
	void drop() { active = false; }
	/* A guest was entered. It can be left before an instruction, which would log the context. */
	void entered();

	/* These do nothing while the log is off. */
	void event(enum vpt_log_event kind, uint8_t vector, uint64_t from);
	void trigger(bool rose);
	void trace(uint64_t address, const void *bytes, size_t len);
	void mark(const char *text, size_t len);
	void msr(unsigned how, uint32_t index, uint64_t value);
	void vmx(uint32_t reason, uint64_t qualification, uint64_t tsc_offset);

private:
	/* Whose instructions they are. */
	struct space {
		uint8_t flags;
		uint64_t cr3, vmcs;
		bool operator<(const space &other) const;
	};
	/* A page of memory as it was when it was logged last. */
	struct frame {
		uint64_t version;
		uint8_t bytes[4096];
	};
	/* What was logged for a linear page of a space. */
	struct mapping {
		uint64_t phys, version;
		frame *copy;
	};

	void put(const void *bytes, size_t len);
	template <typename T> void put(const T &value) { put(&value, sizeof(value)); }
	void put_head(enum vpt_log_kind kind);
	void context();
	void enter_space();
	void code(uint64_t linear, unsigned len);
	void code_page(uint64_t page, unsigned offset, unsigned len);
	bool find_page(uint64_t page, uint64_t *phys, const uint8_t **bytes) const;
	void log_page(uint64_t page, uint64_t phys, const uint8_t *bytes, mapping *m);

	BX_CPU_C *cpu;
	const struct vpt_pt *pt;
	FILE *file;
	bool on;

	/* The instruction under way. */
	bool active;
	uint64_t ip;
	unsigned length;
	bool repeats; /* it is a string instruction with REP */
	uint64_t expected; /* where the next one is if this one goes on */

	/* What was logged last. */
	bool know_context;
	uint8_t flags, packet_en;
	uint64_t cr3, vmcs, cs_base;

	std::map<space, uint32_t> spaces;
	std::unordered_map<uint64_t, frame *> frames;	/* by physical page */
	std::unordered_map<uint64_t, mapping> mappings; /* by space and linear page */
	uint32_t space_id;
	uint64_t last_page;
	mapping *last_mapping;
};

#endif
