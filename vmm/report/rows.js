// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of the timeline: for each vCPU its kinds of events, then its address spaces. A trace of a system has
// hundreds of address spaces. Those that do not run in view have no row, unless all rows are few.
const FEW = 1500, TALL = 6000, DEEP = 24;

// How many levels of calls an address space has in view. 0: it does not run there.
function levels(lane) {
	let deepest = -1;
	if (hasPlaces(lane.vcpu) && !runsInView(lane))
		return 0;
	for (const s of hasPlaces(lane.vcpu) ? lane.spans : [])
		if (s[3] > deepest && tornAt(lane, s) < 4 &&
			place(lane.vcpu, s[1] + s[2], false) >= view.from && place(lane.vcpu, s[1], true) <= view.to)
			deepest = s[3];
	return deepest + 1;
}

function rowOf(lane, deep, all) {
	const cut = deep < Math.min(all, lane.depth) ? `, ${deep} of ${Math.max(deep, Math.min(all, lane.depth))} levels of calls` : '';
	return {lane, deep, height: ROW * (1 + deep) + 4, title: `${lane.name}: ${plural(lane.insns)} instructions${cut}`};
}

// Share the height: each address space has a level of calls, and those with the most instructions have more.
function shareHeight(lanes, room) {
	const found = lanes.map((lane) => ({lane, all: levels(lane)})).filter((f) => f.all)
		.sort((a, b) => b.lane.insns - a.lane.insns);
	const kept = found.slice(0, Math.max(Math.floor(room / (2 * ROW + 4)), 1));
	let left = Math.floor((room - kept.length * (2 * ROW + 4)) / ROW);
	const shared = new Map();
	for (const f of kept) {
		const more = Math.max(Math.min(f.all - 1, DEEP - 1, left), 0);
		left -= more;
		shared.set(f.lane, rowOf(f.lane, 1 + more, f.all));
	}
	return [shared, lanes.length - kept.length];
}

let tall, lines, hidden = 0;
function layOut() {
	const lanes = data.lanes.filter((l) => l.spans.length), events = data.events.length * ROW;
	const all = new Map(lanes.map((l) => [l, rowOf(l, Math.min(l.depth, DEEP), l.depth)]));
	const height = [...all.values()].reduce((sum, r) => sum + r.height, AXIS + events);
	let shown = all;
	hidden = 0;
	if (height > FEW)
		[shown, hidden] = shareHeight(lanes, TALL - AXIS - Math.min(events, TALL / 2));
	lines = [];
	for (const v of [...new Set([...vcpus, ...data.events.map((s) => s.vcpu)])].sort((a, b) => a - b)) {
		for (const s of data.events)
			if (s.vcpu === v)
				lines.push({series: s, height: ROW, title: `vCPU ${v}: ${s.label} (${plural(s.total)})`});
		for (const [lane, row] of shown)
			if (lane.vcpu === v)
				lines.push(row);
	}
	// Browsers do not draw taller pictures.
	tall = AXIS;
	lines = lines.filter((r) => tall + r.height < 2 * TALL && (tall += r.height));
}
