// SPDX-License-Identifier: GPL-2.0-or-later
// Which calls the page has. A vCPU is divided into cells, and of each cell all calls of at least so many
// instructions are in the page. A server adds the others of a range.
const loaded = [];

// All calls that begin near an instruction and have at least so many instructions are in the page.
function leastAt(v, clock) {
	const part = loaded.findLast((p) => p.vcpu === v && clock >= p.from && clock < p.to);
	if (part)
		return part.shortest;
	const c = data.cells[v], i = Math.floor((clock - c.from) / 2 ** c.shift);
	return c.least.length ? c.least[Math.min(Math.max(i, 0), c.least.length - 1)] : 0;
}

// Find where omitted calls of a vCPU would be wide enough to be seen. Returns pixels, and the length from which on
// no call of these places is omitted.
const GAP = 4;
function gaps(v, width) {
	const found = [], per = (view.to - view.from) / width, c = clocks.get(v);
	let least = 0;
	for (let left = 0; hasPlaces(v) && left < width; left += GAP) {
		const at = view.from + left * per, clock = clockOf(v, at), n = leastAt(v, clock);
		if (!n || (axis.time && (at < c.time[0] || at > c.time[c.time.length - 1])))
			continue;
		if (place(v, clock + n, true) - place(v, clock, false) >= 2 * per) {
			found.push(left);
			least = Math.max(least, n);
		}
	}
	return {found, least};
}

// Report what is omitted in view.
function omittedText(least) {
	const n = data.lanes.reduce((sum, l) => sum + l.omitted, 0);
	if (!n)
		return '';
	return (least ? `Where a grey line is below calls, calls of fewer than ${plural(least)} instructions are omitted in this view. ` +
		(data.starts ? 'The button adds them. ' : 'A page of vpt report --serve adds them. ') : 'This view has all calls that are wide enough. ') +
		`${plural(n)} short calls are not in the page. The flame graph and the tables count them.`;
}

// A short trace is decoded at once, so its server need not wait for the button.
const QUICK = 1e8;
let asked = '', waiting = 0;
function addSoon(least) {
	clearTimeout(waiting);
	if (least && data.starts && data.insns <= QUICK && asked !== address())
		waiting = setTimeout(addCalls, 500);
}

// Ask the server for all calls in view.
async function addCalls() {
	asked = address();
	for (const v of vcpus.filter(hasPlaces)) {
		const from = Math.floor(clockOf(v, view.from)), to = Math.max(Math.ceil(clockOf(v, view.to)), from + 1);
		const part = await ask(`calls?vcpu=${v}&from=${from}&to=${to}`, 'tip');
		if (!part)
			return;
		merge(part);
		loaded.push({vcpu: v, from: part.from, to: part.to, shortest: part.shortest});
		if (part.shortest)
			id('tip').textContent = `Some calls of fewer than ${plural(part.shortest)} instructions are omitted in this range: zoom in.`;
	}
	draw();
}
