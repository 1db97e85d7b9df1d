// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deliver inputs from outside between two instructions, record them, and replay a recording. Each
 * input has the count of retired instructions and the virtual TSC. The TSC is necessary in HLT,
 * where time passes without instructions.
 */
#include "core/input.h"
#include "core/clock.h"
#include "core/devices.h"
#include "core/irq.h"
#include "core/vcpu.h"
#include "core/virtio.h"
#include "dev/clock.h"
#include "trace/reader.h"
#include "trace/writer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define NEVER UINT64_MAX
/* The longest wait before the caller checks for signals and limits. */
#define NAP_NS 50000000u
/* A virtual clock that is further than this from the host's is not corrected. */
#define LAG_NS 100000000u
/* The longest delay of a stop by one instruction, such as a long REP. */
#define STOP_NS 50000000u
/* The maximum number of frames that arrive together. */
#define MOST_FRAMES 32u
/* The time from the first buffer of a virtio console to the first byte. */
#define CONSOLE_NS 10000000u

static uint64_t tsc(const struct core_vcpu *v)
{
	return engine_time_tsc(&v->ev->time, v->ev->retired);
}

static uint64_t tsc_ns(const struct core_vcpu *v, uint64_t ticks)
{
	const uint64_t hz = core_clock_tsc_hz(&v->vm->caps);

	return (uint64_t)((unsigned __int128)ticks * DEV_NS_PER_SECOND / hz);
}

/* Returns a time of the guest in ns. The virtual TSC stands still while KVM runs the guest. */
static uint64_t guest_ns(const struct core_vcpu *v)
{
	return v->input.mode == CORE_INPUT_HOST ? core_now() : tsc_ns(v, tsc(v));
}

static uint64_t ns_tsc(const struct core_vcpu *v, uint64_t ns)
{
	const uint64_t hz = core_clock_tsc_hz(&v->vm->caps);

	return (uint64_t)((unsigned __int128)ns * hz / DEV_NS_PER_SECOND);
}

void core_input_live(struct core_vcpu *v, bool realtime)
{
	struct core_input *in = &v->input;

	in->mode = CORE_INPUT_LIVE;
	in->flags = realtime ? CORE_INPUT_REALTIME : 0;
	in->seen_retired = NEVER;
	/* A run that resumes at such a count has not received the input there yet. */
	in->at = (v->ev->retired + CORE_INPUT_INSNS - 1) / CORE_INPUT_INSNS * CORE_INPUT_INSNS;
}

static uint64_t next_time(const struct core_vcpu *v)
{
	return (v->ev->retired / CORE_INPUT_INSNS + 1) * CORE_INPUT_INSNS;
}

/* Skip the inputs of other vCPUs, and those of the shared folder (virtio.c). */
static void skip_others(struct core_vcpu *v)
{
	struct core_input *in = &v->input;

	while (in->left &&
	       (in->next->vcpu != v->index || in->next->head->kind == TRACE_RECORDED_FOLDER)) {
		in->next++;
		in->left--;
	}
}

/*
 * A log of blocks shows where the engine paused. So a replay pauses where live input could have
 * come, too.
 */
static void set_next(struct core_vcpu *v)
{
	struct core_input *in = &v->input;

	skip_others(v);
	in->at = next_time(v);
	if (in->left && in->next->head->retired < in->at)
		in->at = in->next->head->retired;
}

void core_input_replay(struct core_vcpu *v, const struct trace_reader_input *inputs, size_t count)
{
	v->input.mode = CORE_INPUT_REPLAY;
	v->input.next = inputs;
	v->input.left = count;
	skip_others(v);
	v->input.at = v->ev->retired;
}

void core_input_record(struct core_vcpu *v, enum trace_recorded_kind kind, const void *bytes,
		       size_t len)
{
	struct tracer_recorder *rec = &v->tracer.recorder;
	const struct trace_recorded head = {
		.retired = v->ev->retired,
		.tsc = tsc(v),
		.kind = (uint16_t)kind,
		.len = (uint32_t)len,
	};

	if (!tracer_recorder_records(rec) || v->vm->vcpu->input.mode == CORE_INPUT_HOST)
		return;
	tracer_recorder_note(rec, trace_writer_input(rec->writer, v->index, &head, bytes));
}

/* Record an input between two instructions, where a trace can end that has become too large. */
static void record(struct core_vcpu *v, enum trace_recorded_kind kind, const void *bytes,
		   size_t len)
{
	core_input_record(v, kind, bytes, len);
	if (tracer_recorder_records(&v->tracer.recorder))
		tracer_limit(&v->tracer, v->regs->rip);
}

/* Returns the number of bytes that the guest's console can receive now. */
static unsigned int wanted(const struct core_vcpu *v)
{
	const struct virtio_bus *virtio = &v->vm->virtio.bus;

	if (virtio_has_console(virtio))
		return (unsigned int)virtio_console_wants(virtio, DEV_SERIAL_FIFO);
	return dev_platform_wants(&v->vm->platform);
}

/*
 * The driver of a virtio console offers buffers shortly before it keeps the bytes in them. Live
 * input waits for this time of the guest.
 */
static unsigned int wanted_live(struct core_vcpu *v)
{
	const unsigned int wants = wanted(v);
	struct core_input *in = &v->input;

	if (!virtio_has_console(&v->vm->virtio.bus))
		return wants;
	if (!wants)
		in->offered = 0;
	else if (!in->offered)
		in->offered = guest_ns(v);
	return wants && guest_ns(v) - in->offered >= CONSOLE_NS ? wants : 0;
}

static void receive(struct core_vcpu *v, const uint8_t *bytes, size_t count)
{
	record(v, TRACE_RECORDED_CONSOLE, bytes, count);
	v->input.bytes += count;
	core_devices_reach(v);
	if (virtio_has_console(&v->vm->virtio.bus))
		core_virtio_receive(v->vm, bytes, count);
	else
		dev_platform_receive(&v->vm->platform, bytes, count);
	core_devices_touched(v);
}

static void stop(struct core_vcpu *v, enum trace_stop_kind kind)
{
	core_vm_stop(v->vm, kind, "at %#llx", (unsigned long long)v->regs->rip);
}

static enum core_input_ready poll_input(const struct core_vcpu *v, uint64_t ns, bool wants)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	return hooks->input_wait ? hooks->input_wait(hooks->opaque, ns, wants) : CORE_INPUT_ENDED;
}

static bool has_command(const struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	return hooks->command && hooks->command(hooks->opaque, NULL, 0);
}

static bool obey(struct core_vcpu *v, const uint8_t *bytes, size_t len)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	record(v, TRACE_RECORDED_MONITOR, bytes, len);
	return hooks->obey && hooks->obey(hooks->opaque, bytes, len);
}

static void obey_live(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;
	uint8_t bytes[CORE_INPUT_COMMAND];

	(void)obey(v, bytes, hooks->command(hooks->opaque, bytes, sizeof(bytes)));
}

static void receive_frame(struct core_vcpu *v, const uint8_t *bytes, size_t count)
{
	record(v, TRACE_RECORDED_NETWORK, bytes, count);
	core_devices_reach(v);
	core_virtio_frame(v->vm, bytes, count);
	core_devices_touched(v);
}

static bool has_frame(const struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	return hooks->frame && virtio_net_wants(&v->vm->virtio.bus) &&
	       hooks->frame(hooks->opaque, NULL, 0);
}

static void receive_frames(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;
	uint8_t bytes[VIRTIO_FRAME_MAX];
	unsigned int left;

	for (left = MOST_FRAMES; left && has_frame(v); left--)
		receive_frame(v, bytes, hooks->frame(hooks->opaque, bytes, sizeof(bytes)));
}

static bool is_seen(const struct core_vcpu *v)
{
	return v->input.seen_retired == v->ev->retired && v->input.seen_tsc == tsc(v);
}

bool core_input_take(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;
	const bool obeys = has_command(v);
	uint8_t bytes[DEV_SERIAL_FIFO];
	unsigned int wants;

	if (obeys)
		obey_live(v);
	wants = wanted_live(v);
	if (wants && poll_input(v, 0, true) == CORE_INPUT_READY)
		receive(v, bytes, hooks->input(hooks->opaque, bytes, wants));
	receive_frames(v);
	return obeys;
}

bool core_input_is_wanted(struct core_vcpu *v)
{
	return (wanted_live(v) && poll_input(v, 0, true) == CORE_INPUT_READY) || has_frame(v);
}

static void deliver_live(struct core_vcpu *v)
{
	struct core_input *in = &v->input;
	uint32_t number;

	in->at = next_time(v);
	/*
	 * While this vCPU is halted, others can run without a change of its time. A replay delivers
	 * an input when this vCPU first comes to its place, so nothing may arrive there later.
	 */
	if (is_seen(v))
		return;
	in->seen_retired = v->ev->retired;
	in->seen_tsc = tsc(v);
	if (in->stop) {
		number = in->stop == TRACE_STOP_TIMEOUT ? SIGALRM : SIGINT;
		record(v, TRACE_RECORDED_SIGNAL, &number, sizeof(number));
		stop(v, in->stop);
		return;
	}
	(void)core_input_take(v);
}

/* A recording with another input is of another run, or damaged. */
void core_input_diverge(struct core_vcpu *v)
{
	v->input.at = NEVER;
	v->vm->stop.error = -EINVAL;
	core_vm_stop(v->vm, TRACE_STOP_HOST,
		     "the run differs from its recording at %llu instructions",
		     (unsigned long long)v->ev->retired);
}

bool core_input_is_now(const struct core_vcpu *v, const struct trace_reader_input *input)
{
	return input->head->retired == v->ev->retired && input->head->tsc == tsc(v);
}

static bool replay_one(struct core_vcpu *v, const struct trace_reader_input *input)
{
	uint32_t number;

	switch (input->head->kind) {
	case TRACE_RECORDED_CONSOLE:
		if (!input->head->len || input->head->len > wanted(v))
			return false;
		receive(v, input->bytes, input->head->len);
		return true;
	case TRACE_RECORDED_SIGNAL:
		if (input->head->len != sizeof(number))
			return false;
		memcpy(&number, input->bytes, sizeof(number));
		if (number != SIGALRM && number != SIGINT)
			return false;
		record(v, TRACE_RECORDED_SIGNAL, &number, sizeof(number));
		stop(v, number == SIGALRM ? TRACE_STOP_TIMEOUT : TRACE_STOP_INTERRUPTED);
		return true;
	case TRACE_RECORDED_NETWORK:
		if (!input->head->len || input->head->len > VIRTIO_FRAME_MAX ||
		    !virtio_net_wants(&v->vm->virtio.bus))
			return false;
		receive_frame(v, input->bytes, input->head->len);
		return true;
	case TRACE_RECORDED_MONITOR:
		return obey(v, input->bytes, input->head->len);
	default:
		return false;
	}
}

static bool deliver_replay(struct core_vcpu *v)
{
	struct core_input *in = &v->input;
	const struct trace_reader_input *input = in->next;

	if (!in->left || input->head->retired > v->ev->retired) {
		set_next(v);
		return true;
	}
	/* The input of a halted guest may come later in this HLT. */
	if (input->head->retired == v->ev->retired && input->head->tsc > tsc(v) &&
	    v->pending & CORE_VCPU_HALTED)
		return false;
	/* All inputs of a place arrive before an interrupt can. */
	do {
		if (!core_input_is_now(v, in->next) || !replay_one(v, in->next)) {
			core_input_diverge(v);
			return true;
		}
		in->next++;
		in->left--;
		skip_others(v);
	} while (in->left && core_input_is_now(v, in->next));
	set_next(v);
	return true;
}

bool core_input_deliver(struct core_vcpu *v)
{
	if (v->input.mode != CORE_INPUT_LIVE)
		return deliver_replay(v);
	deliver_live(v);
	return true;
}

/* Returns the core clocks until the virtual TSC is `to`, at most one less than `most`. */
static uint64_t clocks_until(const struct core_vcpu *v, uint64_t to, uint64_t most)
{
	uint64_t clocks;

	if (to <= tsc(v) || !most)
		return 0;
	clocks = engine_time_reach(&v->ev->time, to) - v->ev->retired;
	if (clocks < most)
		return clocks;
	/* More than one clock can have the same TSC, of which a replay finds the first. */
	to = engine_time_tsc(&v->ev->time, v->ev->retired + most - 1);
	return to <= tsc(v) ? 0 : engine_time_reach(&v->ev->time, to) - v->ev->retired;
}

static void begin_wait(struct core_vcpu *v, uint64_t host, uint64_t virt)
{
	struct core_input *in = &v->input;
	const uint64_t passed = host - in->host, ran = virt - in->virt;

	if (in->flags & CORE_INPUT_WAITS && in->wait_retired == v->ev->retired &&
	    in->wait_tsc == tsc(v))
		return;
	if (!(in->flags & CORE_INPUT_WAITS) || passed > ran + LAG_NS || ran > passed + LAG_NS) {
		in->host = host;
		in->virt = virt;
	}
	in->flags |= CORE_INPUT_WAITS;
	in->wait_retired = v->ev->retired;
	in->wait_tsc = tsc(v);
}

/* Let the time pass that the host's clock has passed, but not to the next event after `next`. */
static void catch_up(struct core_vcpu *v, uint64_t next)
{
	const uint64_t now = v->input.virt + (core_now() - v->input.host);
	const uint64_t clocks = clocks_until(v, ns_tsc(v, now), next);

	if (clocks)
		core_devices_idle(v, clocks);
	v->input.at = v->ev->retired;
}

/* End a wait for input now, or one tick later if input could have arrived now before. */
static bool end_wait(struct core_vcpu *v, uint64_t next)
{
	const uint64_t clocks = is_seen(v) ? clocks_until(v, tsc(v) + 1, next) : 0;

	if (is_seen(v) && !clocks)
		return false;
	if (clocks)
		core_devices_idle(v, clocks);
	v->input.at = v->ev->retired;
	return true;
}

static bool halted_live(struct core_vcpu *v, uint64_t next)
{
	const bool wants = wanted_live(v);
	uint64_t host, due, left = NAP_NS;
	enum core_input_ready ready = poll_input(v, 0, wants);
	struct core_input *in = &v->input;

	if (in->stop || has_command(v) || has_frame(v) || (wants && ready == CORE_INPUT_READY))
		return end_wait(v, next);
	if (!(in->flags & CORE_INPUT_REALTIME) && ready != CORE_INPUT_LATER)
		return false;
	/* Nothing will wake the guest. */
	if (next == NEVER && ready == CORE_INPUT_ENDED)
		return false;
	host = core_now();
	begin_wait(v, host, tsc_ns(v, tsc(v)));
	if (next != NEVER) {
		due = tsc_ns(v, engine_time_tsc(&v->ev->time, v->ev->retired + next)) - in->virt;
		if (due <= host - in->host)
			return false;
		left = due - (host - in->host);
	}
	ready = poll_input(v, left < NAP_NS ? left : NAP_NS, wants);
	if ((ready == CORE_INPUT_READY && wants) || has_frame(v) || has_command(v))
		catch_up(v, next);
	return true;
}

bool core_input_halted(struct core_vcpu *v, uint64_t next)
{
	struct core_input *in = &v->input;
	uint64_t clocks;

	if (in->mode == CORE_INPUT_LIVE)
		return halted_live(v, next);
	if (in->mode != CORE_INPUT_REPLAY || !in->left || in->next->head->retired != v->ev->retired)
		return false;
	clocks = clocks_until(v, in->next->head->tsc, NEVER);
	if (clocks && clocks >= next)
		return false;
	if (clocks)
		core_devices_idle(v, clocks);
	return true;
}

void core_input_end(struct core_vcpu *v, enum trace_stop_kind kind)
{
	struct core_input *in = &v->input;
	const uint64_t now = core_now();

	if (in->mode != CORE_INPUT_LIVE || (in->stop && now - in->stop_since > STOP_NS)) {
		stop(v, kind);
		return;
	}
	if (in->stop)
		return;
	in->stop = kind;
	in->stop_since = now;
	in->at = v->ev->retired + 1;
}
