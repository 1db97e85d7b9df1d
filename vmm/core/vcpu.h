/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual processor: what runs on it, what it waits for, how it is traced. */
#ifndef VMM_CORE_VCPU_H
#define VMM_CORE_VCPU_H

#include "core/insn.h"
#include "core/perfmon.h"
#include "core/vm.h"
#include "x86/x86.h"
#include "pt/tracer.h"
#include "trace/post_mortem.h"

/* Interrupts to come (abi/boot.h): one timer, one PMI; and the devices' time. */
struct vpt_irq {
	bool timer_armed, timer_due;
	uint8_t timer_vector;
	uint32_t timer_left; /* instructions; while untraced as of timer_set */
	uint64_t timer_set;  /* ns, when untraced counting began */
	uint64_t timer_at;   /* with an engine that counts: of ev->retired */
	uint8_t pmi_vector;  /* 0: LVTPC */
	bool pmi_raised;     /* since the port was read */
	bool pmi_due;
	uint64_t started; /* ns of the host, with others: the devices' time 0 */
	uint64_t next;	  /* of the devices, when they were last touched */
};

#define VPT_MAX_WATCHES 4

struct vpt_vcpu_hv;

/* After `at` instructions the core clock is another. */
struct vpt_cbr_change {
	uint64_t at;
	uint64_t stopped; /* ticks of the TSC in which it stands still */
	uint8_t cbr;	  /* its ratio to the bus clock */
};

#define VPT_CBR_CHANGES 16

/* What MONITOR watches, and what a vCPU that is halted waits for (wait.c). */
#define VPT_WAIT_LINE 64u
struct vpt_wait {
	uint64_t line;		     /* guest-physical */
	uint64_t deadline;	     /* what RDTSC returns then */
	uint8_t copy[VPT_WAIT_LINE]; /* of the line, when it was armed */
	uint8_t cstate;		     /* as events have it */
	uint8_t hints, ext;
	bool armed;
	bool instruction; /* by MWAIT, UMWAIT, TPAUSE; else by HLT */
	bool any_irq;	  /* an interrupt ends it, whatever RFLAGS.IF */
	bool timed;	  /* the deadline ends it */
	bool os_limit;	  /* ... which is IA32_UMWAIT_CONTROL's */
	bool told;	  /* PT knows of it */
};

struct vpt_vcpu {
	struct vpt_vm *vm;
	unsigned int index;
	const struct vpt_engine *engine;
	struct vpt_engine_vcpu *ev;
	struct vpt_regs *regs;

	/* System state and what follows from it; see vpt_vcpu_load(). */
	struct vpt_sregs s;
	struct vpt_paging paging;
	uint8_t cpl;
	uint8_t bits; /* 64, 32, 16: the mode of code */
	bool long_mode;

	struct vpt_insn_cache *insns;
	struct vpt_tracer tracer;
	struct vpt_irq irq;
	struct vpt_perfmon perfmon;
	struct vpt_cbr_change cbr[VPT_CBR_CHANGES]; /* to come, in their order */
	size_t cbr_next, cbr_count;
	struct vpt_vcpu_hv *hv; /* VM entries and exits are traced (hv.h); NULL: there are none */
	struct vpt_observer observer; /* of engines that can be observed */
	struct vpt_wait wait;
	uint64_t ptwrite; /* the operand of the PTWRITE at hand */
	bool halted;
	bool shadow;	  /* STI or a load of SS: no interrupt yet */
	bool arrived;	  /* the next instruction was jumped to */
	bool told;	  /* the tracer has counted this instruction (xstate.c) */
	bool taken;	  /* what vpt_emulate() made of a conditional branch */
	bool nmi_blocked; /* from the delivery of an NMI to the next IRET */
	bool after_ss;	  /* the last instruction loaded SS: no breakpoint yet */
	bool breakpoints; /* DR7 has some: what the core does itself would pass them by */
	bool step_always; /* untraced code is stepped too */
	bool untraced;	  /* timers run on the host's clock */
	bool held;	  /* ... but the TSC no longer, as a trace has begun */
	bool ran_free;	  /* the guest has seen the host's TSC */
	bool kick_armed;

	struct vpt_retired running; /* with an engine that observes: what vpt_exec_one() runs */
	uint64_t host_offset;	/* software's, in the TSC of a host, when it was last looked at */
	uint64_t debug_pending; /* bits of DR6: a trap that a load of SS holds back */

	uint64_t steps;			/* by the engine */
	uint64_t retired;		/* in vpt_exec_one() */
	uint64_t deliveries;		/* through the IDT */
	struct vpt_exception delivered; /* the last of them */
	/* What is being delivered, and what was raised meanwhile, in order (idt.c). */
	struct vpt_guest_fault fault[VPT_STOP_FAULTS];
	unsigned int faults; /* 0 between deliveries; else those behind a triple fault */
	uint64_t max_insns;  /* traced ones; 0: no limit */
	uint64_t pause_at;   /* retired ones, exactly, with an engine that observes */
	uint64_t deadline;   /* ns of CLOCK_MONOTONIC, 0: none */
	/* vpt_vcpu_urge() was called: since the loop last looked around, and ever. */
	volatile bool urgent, hurry;
	uint64_t next_tick;
	uint64_t sync_at; /* retired by then, the file is brought up to date */
};

/* 0 or -errno. The tracer starts without a writer: see vpt_vcpu_record(). */
int vpt_vcpu_create(struct vpt_vm *vm, unsigned int index, struct vpt_vcpu **vcpu);
void vpt_vcpu_destroy(struct vpt_vcpu *vcpu);

/* Record to a file from now on; before the guest runs. 0 or -errno. */
int vpt_vcpu_record(struct vpt_vcpu *v, struct vpt_writer *writer, bool oracle,
		    const struct vpt_caps *tracer_caps);

/*
 * Instructions at which an untraced run must pause for vpt_exec_one(), since the
 * host would do them wrong; more than VPT_MAX_WATCHES make all code be stepped.
 */
int vpt_vcpu_watch(struct vpt_vcpu *v, const uint64_t *ips, size_t count);

/* Deliver an interrupt, or run one instruction, in exact time. */
void vpt_vcpu_step(struct vpt_vcpu *v);

/* Run until the VM stops, then end a trace that is still on. */
void vpt_vcpu_loop(struct vpt_vcpu *v);

/*
 * Make vpt_vcpu_loop() check the deadline and call the tick hook at once. Only a signal handler
 * of the thread that runs the loop may call it, and only when the guest is to stop.
 */
void vpt_vcpu_urge(struct vpt_vcpu *v);

/* Take the system state over from the engine, or give it back after a change. */
void vpt_vcpu_load(struct vpt_vcpu *v);
void vpt_vcpu_store(struct vpt_vcpu *v);

/* Time is the count of instructions that the engine, or whoever steps it, keeps. */
static inline bool vpt_vcpu_counts(const struct vpt_vcpu *v)
{
	return v->engine->observes || v->vm->counted;
}

static inline void vpt_vcpu_set_rip(struct vpt_vcpu *v, uint64_t rip)
{
	v->regs->rip = v->bits == 64 ? rip : (uint32_t)rip;
	v->ev->regs_dirty = true;
}

/*
 * access.c: linear memory as the guest sees it. False: *e is the exception, and
 * nothing was written. `access`: enum vpt_walk_access.
 */
bool vpt_read(struct vpt_vcpu *v, uint64_t gva, void *dst, size_t len, unsigned int access,
	      struct vpt_exception *e);
bool vpt_write(struct vpt_vcpu *v, uint64_t gva, const void *src, size_t len, unsigned int access,
	       struct vpt_exception *e);
bool vpt_canonical(const struct vpt_vcpu *v, uint64_t address);

static inline struct vpt_exception vpt_fault_code(uint8_t vector, uint32_t error)
{
	return (struct vpt_exception){.vector = vector, .has_error = true, .error = error};
}

static inline struct vpt_exception vpt_fault_plain(uint8_t vector)
{
	return (struct vpt_exception){.vector = vector};
}

/* fetch.c: the instruction at RIP. */
struct vpt_fetched {
	const struct vpt_insn *insn; /* NULL: none, executing must fault */
	struct vpt_insn_bytes bytes;
	uint64_t gpa, gpa2; /* of RIP and of the next page */
};
void vpt_fetch(struct vpt_vcpu *v, uint64_t ip, struct vpt_fetched *f);

/* What one instruction came to. */
enum vpt_done {
	VPT_DONE_RETIRED,
	VPT_DONE_FAULT,	  /* *e is to be delivered; nothing else changed */
	VPT_DONE_NATIVE,  /* not for the core: the engine must do it */
	VPT_DONE_STOPPED, /* the VM stops */
	VPT_DONE_AGAIN,	  /* nothing happened: look around and try again */
};

/* emulate.c: do what the core does itself. On RETIRED, RIP is the new one. */
enum vpt_done vpt_emulate(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e);
/* operand.c: the operand of an instruction with one, `bytes` of it; a byte at the address
 * that MONITOR has, and that address. False: *e. */
bool vpt_operand_read(struct vpt_vcpu *v, const struct vpt_insn *insn, unsigned int bytes,
		      uint64_t *value, struct vpt_exception *e);
bool vpt_operand_line(struct vpt_vcpu *v, const struct vpt_insn *insn, uint64_t *address,
		      struct vpt_exception *e);
/* ptwrite.c: PTWRITE, and what PT gets of it when it has retired. */
enum vpt_done vpt_emulate_ptwrite(struct vpt_vcpu *v, const struct vpt_insn *insn,
				  struct vpt_exception *e);
void vpt_ptwrite_tell(struct vpt_vcpu *v, const struct vpt_insn *insn, uint64_t ip, uint64_t next);
/* far.c, iret.c: likewise, transfers between segments and privilege levels. */
enum vpt_done vpt_emulate_far(struct vpt_vcpu *v, const struct vpt_insn *insn,
			      struct vpt_exception *e);
enum vpt_done vpt_emulate_iret(struct vpt_vcpu *v, const struct vpt_insn *insn,
			       struct vpt_exception *e);

/*
 * descriptor.c: the segment that a selector names. `bad`: the vector of the
 * exception if there is none, `external` its EXT bit.
 */
bool vpt_descriptor(struct vpt_vcpu *v, uint16_t selector, uint8_t bad, bool external,
		    struct vpt_segment *seg, struct vpt_exception *e);
struct vpt_segment vpt_flat_segment(uint16_t selector, bool code, bool wide, uint8_t dpl);
struct vpt_segment vpt_null_ss(uint8_t dpl);

/*
 * idt.c: deliver an event through the guest's IDT, in real, protected and long mode.
 * Where it names a task the VM stops as UNABLE, and the result is false.
 */
enum vpt_event_source {
	VPT_SOURCE_EXTERNAL, /* an interrupt */
	VPT_SOURCE_NMI,	     /* blocks the next until IRET: v->nmi_blocked */
	VPT_SOURCE_EXCEPTION,
	VPT_SOURCE_SOFTWARE, /* INT n, INT3, INTO */
	VPT_SOURCE_INT1,
};
/*
 * `rip` is what the frame gets. True: *e is what was delivered in the end (#DF,
 * say) and RIP is its handler's. False: triple fault.
 */
bool vpt_deliver(struct vpt_vcpu *v, struct vpt_exception *e, enum vpt_event_source source,
		 uint64_t rip);
/*
 * For SOFTWARE and INT1. False: *e is what the instruction raises instead, and
 * nothing changed.
 */
bool vpt_deliver_software(struct vpt_vcpu *v, const struct vpt_exception *event,
			  enum vpt_event_source source, uint64_t rip, struct vpt_exception *e);

/*
 * post_mortem.c: the vCPU as the guest left it, once the VM has stopped. Reads guest memory
 * by the guest's page tables, and sets accessed bits there.
 */
void vpt_vcpu_post_mortem(struct vpt_vcpu *v, struct vpt_post_mortem *pm);

/* exec.c: one instruction and all that comes with it: events, faults, traps. */
void vpt_exec_one(struct vpt_vcpu *v);
/* Deliver an exception that an untraced run came back with. */
void vpt_exec_fault(struct vpt_vcpu *v, struct vpt_exception *e, uint64_t rip);
/* The same for a #DB trap after the last instruction; `causes`: bits of DR6. */
void vpt_exec_debug(struct vpt_vcpu *v, uint64_t causes);
/* What was being delivered at `rip` ended in shutdown. */
void vpt_exec_shutdown(struct vpt_vcpu *v, uint64_t rip);

/* debug.c, for engines that observe: */
/* The next instruction needs vpt_exec_one(): TF, RF, breakpoints on execution. */
bool vpt_debug_armed(struct vpt_vcpu *v);
/* DR7 enables a breakpoint, of any kind. */
bool vpt_debug_set(struct vpt_vcpu *v);
/* Breakpoints on an instruction at this linear address, as bits of DR6. */
uint64_t vpt_debug_breakpoints(struct vpt_vcpu *v, uint64_t address);
/* DR7.GD: an access to a debug register is a fault. */
bool vpt_debug_guarded(struct vpt_vcpu *v);
/* A #DB is about to be delivered. */
void vpt_debug_report(struct vpt_vcpu *v, uint64_t causes);

/* observe.c: be told by the engine what run() does from now on. */
void vpt_observe(struct vpt_vcpu *v);

/* irq.c */
void vpt_irq_set_timer(struct vpt_vcpu *v, uint32_t value);
void vpt_irq_retired(struct vpt_vcpu *v);
bool vpt_irq_pending(const struct vpt_vcpu *v);
/* Deliver one if RFLAGS.IF and the shadow allow, an NMI first; true if so. */
bool vpt_irq_deliver(struct vpt_vcpu *v);
/* A ToPA region with INT set is full (33.2.7.2). */
void vpt_irq_pmi(struct vpt_vcpu *v);
/* Crossing between exact counting (stepped) and the host's clock. */
void vpt_irq_enter_untraced(struct vpt_vcpu *v);
void vpt_irq_leave_untraced(struct vpt_vcpu *v);
void vpt_irq_poll(struct vpt_vcpu *v);
/* When the host's timer must end a run: ns from now, at most `most`. */
uint64_t vpt_irq_wait(const struct vpt_vcpu *v, uint64_t most);
/* With an engine that counts: instructions until something is due (UINT64_MAX: nothing
 * is to come); find what is due by now; in a HLT, let that time pass. */
uint64_t vpt_irq_next(const struct vpt_vcpu *v);
void vpt_irq_advance(struct vpt_vcpu *v);
void vpt_irq_skip_to_next(struct vpt_vcpu *v);
/* In a HLT that nothing of that will end: wait for input, for a while. False: there is
 * nobody who could type, or the guest does not want to know. */
bool vpt_irq_listen(struct vpt_vcpu *v);
uint64_t vpt_now(void);

/*
 * clock.c: what time it is, for PT; the TSC's frequency, by CPUID.15H or by the ratio at P1;
 * the core's ratio to the bus clock, as vpt_cbr_change has it, from the start and later.
 */
void vpt_clock_init(struct vpt_vcpu *v);
void vpt_clock_now(struct vpt_vcpu *v, struct vpt_clock *now, uint64_t *tsc);
uint64_t vpt_clock_tsc_hz(const struct vpt_caps *caps);
uint8_t vpt_clock_cbr(const struct vpt_vcpu *v);
void vpt_clock_set_cbr(struct vpt_vcpu *v, uint8_t cbr);
/* Do what changes by now; instructions until the next. */
void vpt_clock_look(struct vpt_vcpu *v);
uint64_t vpt_clock_next(const struct vpt_vcpu *v);
/* What an instruction that the engine stepped knows of time becomes what is told of it. */
void vpt_clock_stepped(struct vpt_vcpu *v, const struct vpt_insn *insn);
/* In a HLT so much of the host's time has passed. */
void vpt_clock_slept(struct vpt_vcpu *v, uint64_t ns);
/* From being stepped to full speed and back, with an engine that does not count. */
void vpt_clock_release(struct vpt_vcpu *v);
void vpt_clock_hold(struct vpt_vcpu *v);

/* devices.c: bring them up to now. */
void vpt_devices_advance(struct vpt_vcpu *v);
/* Instructions until one of them does something, or ns of the host with engines that do
 * not count; UINT64_MAX: none will. */
uint64_t vpt_devices_next(const struct vpt_vcpu *v);
/* So many core clocks pass in which nothing is executed. */
void vpt_devices_idle(struct vpt_vcpu *v, uint64_t clocks);
/* After an access: an engine that runs may have to stop earlier. */
void vpt_devices_touched(struct vpt_vcpu *v);
/* Their state and time, and the timer of abi/boot.h with an engine that counts, between
 * two runs. load() comes after the engine's own, and changes nothing if it is false. */
size_t vpt_devices_saved_bytes(void);
bool vpt_devices_save(struct vpt_vcpu *v, void *to, size_t room);
bool vpt_devices_load(struct vpt_vcpu *v, const void *from, size_t bytes);

/* xstate.c: PT's component of the XSAVE feature set; NULL: this vCPU has none. */
const struct vpt_engine_xstate *vpt_vcpu_xstate(const struct vpt_vcpu *v);

/* msr.c: an MSR access that came to user space. */
bool vpt_msr_traps(uint32_t index);
void vpt_msr_ranges(const struct vpt_msr_range **ranges, size_t *count);
enum vpt_fault vpt_msr_read(struct vpt_vcpu *v, uint32_t index, uint64_t *value);
enum vpt_fault vpt_msr_write(struct vpt_vcpu *v, uint32_t index, uint64_t value,
			     const struct vpt_retired *insn);

#endif /* VMM_CORE_VCPU_H */
