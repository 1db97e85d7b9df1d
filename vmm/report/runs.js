// SPDX-License-Identifier: GPL-2.0-or-later
// When an address space runs. Its calls last until its next instruction, and are pale while others run.

// Make intervals of distances and lengths.
function unpackRuns(lane) {
	const runs = [];
	let at = 0;
	for (let i = 0; i < lane.runs.length; i += 2) {
		const from = at + lane.runs[i];
		at = from + lane.runs[i + 1];
		runs.push([from, at]);
	}
	lane.runs = runs;
}
data.lanes.forEach(unpackRuns);

// The index of the first interval that ends behind a clock.
function firstRun(lane, clock) {
	let low = 0, high = lane.runs.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (lane.runs[middle][1] > clock)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

// Whether an address space runs in view.
function runsInView(lane) {
	const run = lane.runs[firstRun(lane, clockOf(lane.vcpu, view.from))];
	return run !== undefined && run[0] <= clockOf(lane.vcpu, view.to);
}

// The rectangles of a row in which its address space does not run.
function idlePlaces({lane, height}, y, x, width) {
	const v = lane.vcpu, places = [];
	if (!hasPlaces(v))
		return places;
	const last = clockOf(v, view.to);
	let i = firstRun(lane, clockOf(v, view.from)), from = i ? x(place(v, lane.runs[i - 1][1], false)) : 0;
	for (let shown = true; shown && from < width; i++) {
		const run = lane.runs[i];
		shown = run !== undefined && run[0] <= last;
		const left = Math.max(from, 0), right = shown ? Math.min(x(place(v, run[0], true)), width) : width;
		if (right - left >= 1)
			places.push([left, y + ROW, right - left, height - ROW]);
		if (shown)
			from = x(place(v, run[1], false));
	}
	return places;
}

// Make these places pale, and write the names of the calls, which can be read in both.
function drawIdle(c, places, names) {
	const inside = new Path2D(), write = (color) => {
		c.fillStyle = color;
		names.forEach((n) => c.fillText(...n));
	};
	places.forEach((p) => inside.rect(...p));
	c.globalAlpha = 0.7;
	c.fillStyle = css('--panel');
	c.fill(inside);
	c.globalAlpha = 1;
	const outside = new Path2D(inside);
	outside.rect(0, 0, c.canvas.width, c.canvas.height);
	for (const [part, color] of [[inside, css('--text')], [outside, '#1b1f24']]) {
		c.save();
		c.clip(part, 'evenodd');
		write(color);
		c.restore();
	}
}

// Take the intervals of a range from a server.
function mergeRuns(lane, of, from, to) {
	unpackRuns(of);
	const before = [], behind = [];
	for (const [a, b] of lane.runs) {
		if (a < from)
			before.push([a, Math.min(b, from)]);
		if (b > to)
			behind.push([Math.max(a, to), b]);
	}
	lane.runs = before.concat(of.runs, behind);
}
