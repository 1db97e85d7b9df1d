/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of an engine, which executes guest instructions.
 *
 * An engine runs a vCPU at full speed or one instruction at a time. A step delivers no exception.
 * The engine reports the exception that the instruction raised, with the state from before the
 * instruction, and the core delivers it. So the effect of a step is exactly known on every host.
 */
#ifndef VMM_ENGINE_ENGINE_H
#define VMM_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/log.h"
#include "engine/probe.h"
#include "engine/random.h"
#include "engine/report.h"
#include "engine/time.h"
#include "vpt/event.h"
#include "x86/arch.h"

struct engine_apic;
struct vpt_gate;
struct vpt_rtit;

/* An exception, as the IDT delivers it. */
struct engine_exception {
	uint8_t vector;
	bool has_error; /* not a property of the vector: INT n has no error code */
	uint32_t error;
	uint64_t cr2; /* #PF only */
};

enum engine_exit_kind {
	ENGINE_EXIT_NONE = 0, /* step: the instruction retired; run, complete: nothing to report */
	ENGINE_EXIT_KICK,     /* a signal, or the end of the time of kick_after() */
	ENGINE_EXIT_IRQ_WINDOW, /* an interrupt can be delivered now */
	ENGINE_EXIT_HLT,
	ENGINE_EXIT_IO,	   /* io; answer in data, then call complete() */
	ENGINE_EXIT_MMIO,  /* mmio; likewise */
	ENGINE_EXIT_RDMSR, /* msr; likewise */
	ENGINE_EXIT_WRMSR,
	ENGINE_EXIT_FAULT,    /* fault: nothing retired; the core delivers the exception */
	ENGINE_EXIT_SYSCALL,  /* RIP is at a SYSCALL that the host cannot execute */
	ENGINE_EXIT_UNABLE,   /* RIP is at another instruction that the host cannot execute */
	ENGINE_EXIT_WATCH,    /* run: RIP is at a watched instruction */
	ENGINE_EXIT_CORE,     /* run: RIP is at an instruction that the core emulates */
	ENGINE_EXIT_DEBUG,    /* a #DB trap is due: debug.dr6 has the causes */
	ENGINE_EXIT_SHUTDOWN, /* triple fault */
	ENGINE_EXIT_TURN,     /* run: RIP is at an RDTSC, see tsc_limit */
	ENGINE_EXIT_PAUSE,    /* run: a PAUSE retired, see tsc_limit */
	ENGINE_EXIT_EOI,      /* the end of a level-triggered interrupt: eoi; see engine/apic.h */
	ENGINE_EXIT_ERROR,    /* the host failed: error, text */
};

struct engine_exit {
	enum engine_exit_kind kind;
	union {
		struct {
			uint16_t port;
			uint8_t size;
			bool in;
			uint32_t count;
			void *data; /* size * count bytes */
		} io;
		struct {
			uint64_t gpa;
			uint32_t len;
			bool write;
			void *data;
		} mmio;
		struct {
			uint32_t index;
			uint64_t *value;
			bool gp; /* answer: raise #GP instead */
		} msr;
		struct engine_exception fault;
		struct {
			uint64_t dr6;
		} debug;
		struct {
			uint8_t vector;
		} eoi;
		struct {
			int error; /* errno or an error number of the engine */
			const char *text;
		} host;
	};
};

struct engine_cpuid_entry {
	uint32_t leaf, subleaf;
	bool by_subleaf;
	uint32_t eax, ebx, ecx, edx;
};

struct engine_msr_range {
	uint32_t first, count;
	bool read, write; /* trap these accesses */
};

struct engine_vm {
	const struct engine *engine;
};

/* Bits of engine_data_watch.access. */
enum engine_data_access {
	ENGINE_DATA_READ = 1 << 0,
	ENGINE_DATA_WRITE = 1 << 1,
};

/* The most watches of engine.watch_data(). */
#define ENGINE_DATA_WATCHES 16

/* Accesses to watch: those of instructions to any of these bytes, which do not wrap. */
struct engine_data_watch {
	uint64_t lin;
	uint32_t len;	 /* at least 1 */
	uint32_t access; /* enum engine_data_access */
};

/* Returns 1 plus the index of the first watch for this access, or 0. @len is at least 1. */
static inline uint32_t engine_data_find(const struct engine_data_watch *watches, uint32_t count,
					uint64_t lin, uint64_t len, uint32_t access)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (watches[i].access & access && watches[i].lin + (watches[i].len - 1) >= lin &&
		    watches[i].lin <= lin + (len - 1))
			return i + 1;
	return 0;
}

/* Bits of engine_observer.wants: the reports of an engine besides near transfers. */
enum engine_observer_wants {
	/* A report of each instruction, instead of one for several instructions. */
	ENGINE_WANTS_INSNS = 1 << 0,
	/* Code that will run for the first time, through code(). */
	ENGINE_WANTS_CODE = 1 << 1,
	/* Changes of RFLAGS.IF. */
	ENGINE_WANTS_INTR_FLAG = 1 << 2,
	/* The words of `log`. Not together with ENGINE_WANTS_INSNS. */
	ENGINE_WANTS_LOG = 1 << 3,
};

/*
 * The receiver of reports from run() of an engine with ENGINE_REPORTS, in program order. Everything
 * has been reported when run() returns. A function may request the return by ENGINE_ATTENTION.
 * It must not call any other function of the engine.
 */
struct engine_observer {
	/*
	 * Takes near branches while it is open. NULL if no trace is on and the engine only reports
	 * code.
	 */
	struct vpt_gate *gate;
	uint32_t wants; /* enum engine_observer_wants */
	/*
	 * Reports retired instructions. The engine reports near transfers that the gate does not
	 * take, PTWRITE, and changes of RFLAGS.IF if they are wanted. The core reports transfers
	 * between segments. The function may change *r.
	 */
	void (*report)(void *opaque, struct engine_report *r);
	/*
	 * Reports code at linear address `lin` that will run for the first time since its bytes or
	 * its mapping changed; see tracer_code(). The function requests the return if it ends the
	 * trace. It sets ENGINE_CODE_AGAIN if it has forgotten code that was reported before.
	 */
	void (*code)(void *opaque, uint64_t lin, unsigned int len, uint64_t gpa, uint64_t gpa2);
	/*
	 * With ENGINE_WANTS_LOG: the words of the log. A call of stretch() passes the instructions
	 * of a new block, and returns the number of the block. The owner of the log takes its words
	 * in flush().
	 */
	struct engine_log *log;
	uint32_t (*stretch)(void *opaque, const struct engine_stretch *s);
	void (*flush)(void *opaque);
	void *opaque;
};

/*
 * PT's component of the XSAVE feature set (vpt/xsave.h), for an engine that executes XSAVES itself.
 * The engine uses these functions only in step(), because they can end or begin a trace.
 */
struct engine_xstate {
	bool (*initial)(void *opaque);
	/* The instruction can no longer fault. */
	void (*save)(void *opaque, void *state);
	/*
	 * `state` is NULL for the initial state. If check() returns false, raise #GP. Otherwise
	 * call restore() as the last action.
	 */
	bool (*check)(void *opaque, const void *state);
	void (*restore)(void *opaque, const void *state);
};

/* The devices, for an engine that accesses them without exits. */
struct engine_bus {
	void (*io)(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count, void *data);
	void (*mmio)(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data);
	/* CR8, the task priority. */
	uint64_t (*get_cr8)(void *opaque);
	void (*set_cr8)(void *opaque, uint64_t value);
	const struct engine_xstate *xstate; /* NULL if there is no such component */
	void *opaque;
};

/* Bits of engine_vcpu.state. All but the first are for engines with ENGINE_REPORTS. */
enum engine_vcpu_state {
	ENGINE_REGS_DIRTY = 1 << 0, /* the caller has changed `regs` */
	ENGINE_PTWRITE = 1 << 1,    /* the processor has PTWRITE; set before the first run() */
	ENGINE_SHADOW = 1 << 2, /* no interrupt before one more instruction retires (STI, MOV SS) */
	ENGINE_BRANCHES = 1 << 3, /* the caller requests `branches` */
	/* A device or the observer makes run() end with KICK after the present instruction. */
	ENGINE_ATTENTION = 1 << 4,
	ENGINE_CORE_RDTSC = 1 << 5, /* run() leaves RDTSC and RDTSCP to the core */
	/* The observer has forgotten code. The engine reports all code again before it runs. */
	ENGINE_CODE_AGAIN = 1 << 6,
};

/*
 * One vCPU. All calls for one vCPU but interrupt() come from one thread. Another thread may take over
 * between two calls.
 */
struct engine_vcpu {
	const struct engine *engine;
	/* The registers, valid after every exit. Set ENGINE_REGS_DIRTY after a change. */
	struct x86_regs *regs;
	uint32_t state; /* enum engine_vcpu_state */
	/* The other fields are for engines with ENGINE_REPORTS. The caller sets the first group. */
	const struct engine_observer *observer; /* NULL if nothing is to be reported */
	struct engine_bus bus;
	uint64_t budget; /* run() ends with KICK after exactly this number of instructions */
	/*
	 * run() ends with TURN before an RDTSC at a later TSC, without the changes by software, and
	 * with PAUSE after a PAUSE. UINT64_MAX: for neither.
	 */
	uint64_t tsc_limit;
	/* The engine sets the second group. */
	uint64_t
		retired; /* the retired instructions, also valid in a report or a call of the bus */
	/*
	 * Of a software CPU: the instructions of blocks that began without host code. A block that
	 * ends early counts as a whole. 0 of other engines.
	 */
	uint64_t interpreted;
	/*
	 * The retired branches. The engine adds its near ones while ENGINE_BRANCHES is set. The core
	 * adds the branches that it executes itself.
	 */
	uint64_t branches;
	/*
	 * The last instruction has made an access that watch_data() watches: 1 plus the index of the
	 * watch. The caller sets it to 0.
	 */
	uint32_t data_hit;
	/*
	 * The state of RDRAND and RDSEED of an engine that emulates them. The caller sets the seed
	 * before the first run().
	 */
	struct engine_random random;
	/*
	 * The time that RDTSC reads. For other engines the core uses this field for stepped
	 * instructions.
	 */
	struct engine_time time;
};

/* The core's knowledge of the instruction to step. */
struct engine_step_hint {
	bool debug_regs; /* the instruction uses a debug register */
	bool msrs;	 /* the instruction can change MSRs or segment bases */
	/*
	 * The core has read the instruction through the page tables. An engine with a TLB of its
	 * own must not fetch through a translation that differs from them.
	 */
	bool by_tables;
};

/* The bytes of a host's trace, in order, in the engine's memory. */
struct engine_trace {
	struct {
		const uint8_t *bytes;
		size_t len;
	} piece[2];
	bool lost;	 /* earlier bytes were overwritten */
	uint64_t status; /* IA32_RTIT_STATUS */
};

/*
 * A result of log_writes(): run() ends with KICK before an instruction writes to a watched page. Up to
 * the next exit other writes to the page have no effect on run(). Call written() after each run().
 */
#define ENGINE_WRITES_STOP 1

struct engine_writes_sink {
	void (*page)(void *opaque, uint64_t gpa); /* may call watch_writes() */
	void *opaque;
};

/*
 * The processor's own PT. run() traces the guest without steps, and nothing reports retired
 * instructions. Functions return 0 or -errno. All except owner() are called between two run()s.
 */
struct engine_pt {
	/* Choose the owner of PT, the guest or its host. Call it before vm_trap_msrs(). */
	int (*owner)(struct engine_vm *vm, bool guest);
	/* Get the guest's IA32_RTIT_* MSRs. */
	int (*get)(struct engine_vcpu *vcpu, struct vpt_rtit *rtit);
	/*
	 * Execute the guest's WRMSR to IA32_RTIT_CTL, which exits. Writes to the other MSRs do not
	 * exit.
	 */
	int (*set_ctl)(struct engine_vcpu *vcpu, uint64_t value);
	/* Start a host's trace of the guest with the settings of `rtit`, except for the output. */
	int (*start)(struct engine_vcpu *vcpu, const struct vpt_rtit *rtit);
	/* Get the bytes of that trace since the last call. They are valid until the next run(). */
	int (*read)(struct engine_vcpu *vcpu, struct engine_trace *trace);
	int (*stop)(struct engine_vcpu *vcpu);
	/*
	 * Log the guest's writes to RAM, for this vCPU. Returns -errno if the host has no log, also
	 * later. Call the functions below only after a success, which is 0 or ENGINE_WRITES_STOP.
	 */
	int (*log_writes)(struct engine_vcpu *vcpu);
	/* Watch the writes to a page, or no longer, for all vCPUs. */
	void (*watch_writes)(struct engine_vcpu *vcpu, uint64_t gpa, bool on);
	/*
	 * Report the watched pages that a vCPU has written since the last call with this vCPU, or
	 * that are newly watched. With ENGINE_WRITES_STOP report those that it is about to write,
	 * and report them again at the next exit. Returns 0 or -errno.
	 */
	int (*written)(struct engine_vcpu *vcpu, const struct engine_writes_sink *sink);
};

/*
 * Bits of engine.can: the features of an engine. The core emulates missing features. An engine
 * without any of them is a host's processor, such as KVM.
 */
enum engine_can {
	/* run() retires exactly `budget` instructions, and the time is their number. */
	ENGINE_COUNTS = 1 << 0,
	/* run() reports to the observer, so that a trace needs no single steps. */
	ENGINE_REPORTS = 1 << 1,
	/* step() and exceptions work in every mode and at every CPL. */
	ENGINE_MODES = 1 << 2,
	/* The core raises every #DB: for TF, for DR0 to DR3, between iterations. */
	ENGINE_DEBUG = 1 << 3,
	/*
	 * The core emulates far transfers, MONITOR and MWAIT. The engine executes all other
	 * instructions.
	 */
	ENGINE_NEAR = 1 << 4,
	/*
	 * Every device is accessed through `bus`, with the APIC's MSRs and PT's XSAVES component.
	 */
	ENGINE_BUS = 1 << 5,
};

/*
 * The operations of an engine. Functions return 0 or -errno unless stated otherwise. The caller
 * destroys the results of create().
 */
struct engine {
	const char *name;
	const struct engine_pt *pt; /* NULL if the trace is made in software */
	/* Local APICs of the host, if engine_probe.no_apic is NULL; NULL if there are none. */
	const struct engine_apic *apic;
	uint32_t can; /* enum engine_can */

	/* Find the features of this machine. Always fills in *probe. */
	void (*probe)(struct engine_probe *probe, bool with_costs);

	int (*vm_create)(const struct engine_probe *probe, struct engine_vm **vm);
	void (*vm_destroy)(struct engine_vm *vm);
	int (*vm_map)(struct engine_vm *vm, uint32_t slot, uint64_t gpa, void *host,
		      uint64_t bytes);
	/*
	 * Report a write to guest RAM that the engine did not make. The write may have changed
	 * code. NULL if the engine needs no report.
	 */
	void (*vm_wrote)(struct engine_vm *vm, uint64_t gpa, uint64_t bytes);
	/*
	 * The states that are loaded from here on are of one time, which is now. The TSCs of the
	 * vCPUs then continue together. NULL if time passes with instructions only.
	 */
	void (*vm_moment)(struct engine_vm *vm);
	/*
	 * Forget what the engine has derived from RAM, because another engine has run the guest
	 * since. Call it after load() and before run(). NULL if the engine has no load().
	 */
	int (*vm_forget)(struct engine_vm *vm);
	/*
	 * Set which MSRs the guest may access, before the first vCPU. A trapped access becomes an
	 * exit. The engine handles any other access within a range. MSRs outside all ranges raise
	 * #GP or become exits. If ranges overlap, the last one applies.
	 */
	int (*vm_trap_msrs)(struct engine_vm *vm, const struct engine_msr_range *ranges,
			    size_t count);
	/* *count is the room for entries before the call, and their number after it. */
	int (*supported_cpuid)(struct engine_vm *vm, struct engine_cpuid_entry *entries,
			       size_t *count);

	int (*vcpu_create)(struct engine_vm *vm, unsigned int index,
			   const struct engine_cpuid_entry *cpuid, size_t count,
			   struct engine_vcpu **vcpu);
	void (*vcpu_destroy)(struct engine_vcpu *vcpu);

	int (*get_sregs)(struct engine_vcpu *vcpu, struct x86_sregs *sregs);
	int (*set_sregs)(struct engine_vcpu *vcpu, const struct x86_sregs *sregs);
	int (*get_msr)(struct engine_vcpu *vcpu, uint32_t index, uint64_t *value);
	int (*set_msr)(struct engine_vcpu *vcpu, uint32_t index, uint64_t value);
	int (*get_dr)(struct engine_vcpu *vcpu, unsigned int n, uint64_t *value);
	int (*set_dr)(struct engine_vcpu *vcpu, unsigned int n, uint64_t value);
	/*
	 * Read the time in run(), and the value that RDTSC would return. An engine with
	 * ENGINE_COUNTS uses `time`. Another engine uses the host's TSC, which also stands for the
	 * core clock. The core keeps a separate time for the instructions that it steps.
	 */
	void (*clock)(struct engine_vcpu *vcpu, struct vpt_clock *now, uint64_t *tsc);
	/*
	 * Return the frequency of the host's TSC in Hz, or 0 if time is virtual. *offset is the
	 * guest's TSC less the host's.
	 */
	uint64_t (*tsc_hz)(struct engine_vcpu *vcpu, uint64_t *offset);

	/*
	 * Run until the next exit. With `want_irq`, return as soon as an interrupt can be
	 * delivered. FAULT is possible here too, on hosts that deliver exceptions incorrectly. The
	 * core then delivers the exception.
	 */
	void (*run)(struct engine_vcpu *vcpu, bool want_irq, struct engine_exit *exit);
	/* Execute the instruction at RIP, or part of a string instruction. Never ends with KICK. */
	void (*step)(struct engine_vcpu *vcpu, const struct engine_step_hint *hint,
		     struct engine_exit *exit);
	/* Finish an IO, MMIO or MSR exit. There may be one more exit. */
	void (*complete)(struct engine_vcpu *vcpu, struct engine_exit *exit);
	/* Make run() stop before these instructions. Returns -E2BIG if there are too many. */
	int (*watch)(struct engine_vcpu *vcpu, const uint64_t *ips, size_t count);
	/*
	 * Make run() and step() set engine_vcpu.data_hit after an instruction with such an access.
	 * run() ends there with KICK. A string instruction with REP ends between two iterations. The
	 * guest does not observe this. At most ENGINE_DATA_WATCHES; NULL if the engine cannot.
	 */
	void (*watch_data)(struct engine_vcpu *vcpu, const struct engine_data_watch *watches,
			   size_t count);
	/*
	 * This process is new: it was forked from the one that has run the machine so far. Replace
	 * memory that both still share. The guest does not observe this. Returns 0 or -errno; NULL
	 * if a machine of this engine cannot be forked.
	 */
	int (*vm_forked)(struct engine_vm *vm);
	/* End run() with KICK after this time, or never if 0. */
	int (*kick_after)(struct engine_vcpu *vcpu, uint64_t ns);
	/*
	 * End run() with KICK at once, or the next run() if none is in progress. A signal handler
	 * may call this function. With ENGINE_COUNTS it must be one of the thread that calls run(),
	 * without that any thread may call it.
	 *
	 * Use this function only for a guest that will stop. A guest that changed the mapping of
	 * code without invalidating it can observe the place where run() ended.
	 */
	void (*interrupt)(struct engine_vcpu *vcpu);
	/*
	 * With ENGINE_REPORTS, between two run()s: report all code of this vCPU again before it next
	 * runs, and pass each block to stretch() again. The guest does not observe this.
	 */
	void (*report_again)(struct engine_vcpu *vcpu);

	/*
	 * Queue an NMI. The host delivers it in run() as soon as the guest can take one, and blocks
	 * others until IRET. Returns 0 or -errno. NULL if the core delivers NMIs.
	 */
	int (*nmi)(struct engine_vcpu *vcpu);

	/*
	 * Drop the events in delivery, the shadows and the block of NMIs, as INIT does. NULL if this
	 * engine has none of them between two run()s.
	 */
	int (*drop_events)(struct engine_vcpu *vcpu);

	/*
	 * Save and load the state of a vCPU between two run()s, with `retired` and ENGINE_SHADOW,
	 * and without RAM (engine/state.h). NULL if the engine cannot. An engine may load the state
	 * that another one saved, if both have the same CPUID.
	 *
	 * save() returns the number of bytes, and writes them if they fit into `room`. It returns 0
	 * if there is no memory, or if the engine is in the middle of an exit or a delivery. The
	 * caller then repeats it after the next run(). The bytes are plain data, the same for the
	 * same state.
	 *
	 * load() needs the RAM at the time of save(), and a vCPU that is new or has run with the
	 * same RAM. It returns -EAGAIN, and can be repeated later, while the engine's TSC is less
	 * than the state's and cannot be set. It returns -ENOTSUP if the engine cannot have this
	 * state, although a processor can; it can load another state later. It returns -EINVAL if
	 * the bytes are not from save() or are impossible for this vCPU, which can then only be
	 * destroyed.
	 */
	size_t (*save)(struct engine_vcpu *vcpu, void *to, size_t room);
	int (*load)(struct engine_vcpu *vcpu, const void *from, size_t bytes);
};

/* Find the engine "soft", "kvm" or "kvm-pt". Returns NULL for any other name. */
const struct engine *engine_find(const char *name);

#endif /* VMM_ENGINE_ENGINE_H */
