// SPDX-License-Identifier: GPL-2.0-or-later
// The time of instructions. The page has points at which the time of a vCPU is known, and computes the
// times between two of them by instructions. Before the first point and after the last one there is no time.
const axis = {time: false};
const clocks = new Map();
const zero = data.times.filter((t) => t.points.length).map((t) => BigInt(t.first)).reduce((a, b) => b < a ? b : a, 1n << 64n);

// Read the points of a vCPU: instructions, and nanoseconds since the first time of all vCPUs. Without the
// frequency of the TSC they are its ticks.
function readPoints(t) {
	const at = [], time = [], scale = data.hz ? 1e9 / data.hz : 1;
	let clock = 0, ticks = Number(BigInt(t.first) - zero);
	const first = ticks;
	for (let i = 0; i < t.points.length; i += 2) {
		at.push(clock += t.points[i]);
		time.push((ticks += t.points[i + 1]) * scale);
	}
	return {at, time, first, scale, known: t.known, error: t.error * scale};
}
data.times.forEach((t, v) => {
	if (t.points.length)
		clocks.set(v, readPoints(t));
});

// Replace the points of a part by more exact ones.
function mergePoints(v, t) {
	const c = clocks.get(v);
	if (!c || t.points.length < 4)
		return;
	const p = readPoints(t), from = p.at[0], to = p.at[p.at.length - 1];
	const lo = below(c.at, from, false), hi = below(c.at, to, true);
	for (const k of ['at', 'time'])
		c[k] = [...c[k].slice(0, lo), ...p[k], ...c[k].slice(hi)];
}

// The number of entries of a sorted list that are less than a value, or equal if wanted.
function below(list, value, equal) {
	let lo = 0, hi = list.length;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (list[mid] < value || (equal && list[mid] === value))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

// The value of a line through points. Of two points at one place, the later one is taken if wanted.
function between(from, to, value, late) {
	const i = below(from, value, late);
	if (late ? i && from[i - 1] === value : from[i] === value)
		return to[late ? i - 1 : i];
	if (!i || i === from.length)
		return undefined;
	return to[i - 1] + (to[i] - to[i - 1]) * (value - from[i - 1]) / (from[i] - from[i - 1]);
}

// The time before an instruction, or undefined. A vCPU can sleep there: then it is the end of the sleep if wanted.
function timeAt(v, clock, late) {
	const c = clocks.get(v);
	return c && between(c.at, c.time, clock, late);
}

// The place of an instruction on the axis. Without a known time, it is the nearest one.
function place(v, clock, late) {
	const c = clocks.get(v);
	if (!axis.time)
		return clock;
	const t = timeAt(v, clock, late);
	return t !== undefined ? t : clock < c.at[0] ? c.time[0] : c.time[c.time.length - 1];
}
const hasPlaces = (v) => !axis.time || clocks.has(v);

// The known time of an event, or that of its instruction.
function eventTime(s, e) {
	const c = clocks.get(s.vcpu);
	return !c ? undefined : e.time === undefined ? timeAt(s.vcpu, e.at, true) : (c.first + e.time) * c.scale;
}

// The place of an event, which is undefined if it has no time. It stays in the order of instructions.
function eventPlace(s, e) {
	if (!axis.time)
		return e.at;
	const low = timeAt(s.vcpu, e.at, false);
	return low === undefined ? undefined : Math.min(Math.max(eventTime(s, e), low), timeAt(s.vcpu, e.at, true));
}

// The instruction of a vCPU at a place of the axis.
function clockOf(v, at) {
	const c = clocks.get(v);
	if (!axis.time)
		return at;
	const n = c && between(c.time, c.at, at, true);
	return n !== undefined ? n : !c ? 0 : at < c.time[0] ? c.at[0] : c.at[c.at.length - 1];
}

// Write a time, with so many digits that @step can be seen.
const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
function timeText(n, step, most) {
	if (!data.hz)
		return `${plural(Math.round(n))} ticks`;
	const [size, name] = UNITS.find((u) => u[0] <= (most || Math.abs(n))) || UNITS[3];
	const digits = Math.min(Math.max(Math.ceil(Math.log10(size / (step || Math.max(size / 1000, 0.1))) - 1e-9), 0), 9);
	return `${(n / size).toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits})} ${name}`;
}

// What the axis leaves out.
function axisNote(lanes) {
	if (!clocks.size)
		return 'The timeline has no axis by time: no vCPU has a known time in this page.';
	const list = [];
	for (const [v, c] of clocks) {
		const own = lanes.filter((l) => l.vcpu === v).flatMap((l) => l.spans);
		const from = own.reduce((m, s) => Math.min(m, s[1]), c.at[0]);
		const to = own.reduce((m, s) => Math.max(m, s[1] + s[2]), c.at[c.at.length - 1]);
		const out = [[c.at[0] - from, 'before the first'], [to - c.at[c.at.length - 1], 'after the last']]
			.filter(([n]) => n > 0).map(([n, where]) => `${plural(n)} instructions ${where} known time are not on the axis by time`);
		list.push(`vCPU ${v}: the trace has ${plural(c.known)} known times. Between two of them, instructions take equal times` +
			(c.error ? `, and the page is at most ${timeText(c.error)} away from known times` : '') +
			(out.length ? `. ${out.join(', and ')}` : '') + '.');
	}
	for (const v of new Set(lanes.map((l) => l.vcpu)))
		if (!clocks.has(v))
			list.push(`vCPU ${v} has no known time.`);
	return list.join(' ');
}
