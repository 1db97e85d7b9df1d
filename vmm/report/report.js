// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the page.
function element(parent, name, text, cls) {
	const e = document.createElement(name);
	if (text !== undefined)
		e.textContent = text;
	if (cls)
		e.className = cls;
	if (parent)
		parent.append(e);
	return e;
}

// Fill a table. Columns: [title, is a number].
function table(to, columns, rows, each) {
	const t = element(null, 'table'), head = element(element(t, 'thead'), 'tr');
	const body = element(t, 'tbody');
	for (const [title, number] of columns)
		element(head, 'th', title, number ? 'n' : '').scope = 'col';
	rows.forEach((row, i) => {
		const tr = element(body, 'tr');
		row.forEach((v, c) => element(tr, 'td', columns[c][1] ? plural(v) : v, columns[c][1] ? 'n' : ''));
		if (each)
			each(tr, i);
	});
	to.replaceChildren(t);
	return t;
}

const totals = data.functions.map((name, i) => ({name, own: data.totals[i][0], all: data.totals[i][1], calls: data.totals[i][2]}));
for (const lane of data.lanes) {
	lane.children = lane.nodes.map(() => []);
	lane.nodes.forEach(([parent], i) => {
		if (parent >= 0)
			lane.children[parent].push(i);
	});
	prepare(lane);
}
function prepare(lane) {
	lane.spans.sort((a, b) => a[1] - b[1] || a[3] - b[3]);
	lane.depth = 1 + lane.spans.reduce((d, s) => Math.max(d, s[3]), 0);
}

const LABELS = {'paging': 'CR3 writes', 'async branch': 'interrupts and exceptions', 'mark': 'marks', 'overflow': 'overflows'};
for (const s of data.events)
	s.label = Object.hasOwn(LABELS, s.name) ? LABELS[s.name] : s.name;
const vcpus = [...new Set(data.lanes.map((l) => l.vcpu))];
const end = Math.max(data.lanes.reduce((d, l) => l.spans.reduce((m, s) => Math.max(m, s[1] + s[2]), d), 1),
	data.events.reduce((d, s) => s.list.reduce((m, e) => Math.max(m, e.at + 1), d), 1));
// A part of a trace does not begin at 0.
const begin = Math.min(data.lanes.reduce((d, l) => l.spans.reduce((m, s) => Math.min(m, s[1]), d), end - 1),
	data.events.reduce((d, s) => s.list.reduce((m, e) => Math.min(m, e.at), d), end - 1));
const view = {from: begin, to: end, picked: null};
// The edges of the axis.
function edges() {
	const all = [...clocks.values()];
	const list = axis.time ? all.flatMap((c) => [c.time[0], c.time[c.time.length - 1]]) : [begin, end];
	return [Math.min(...list), Math.max(...list)];
}
const canvas = id('time');
let hits = [];

function hue(text) {
	let h = 7;
	for (let i = 0; i < text.length; i++)
		h = (h * 31 + text.charCodeAt(i)) >>> 0;
	return h;
}
const colors = [], styles = new Map();
const color = (f) => colors[f] ??= `hsl(${20 + hue(data.functions[f]) % 200} 65% 74%)`;

// The value of a style. The light and the dark ones can change between two drawings.
function css(name) {
	if (!styles.has(name))
		styles.set(name, getComputedStyle(document.documentElement).getPropertyValue(name));
	return styles.get(name);
}

// The edges of a call that are not on the axis. More than 3: no instruction of it is.
function tornAt(lane, s) {
	const c = clocks.get(lane.vcpu), to = s[1] + s[2];
	if (!axis.time)
		return s[4];
	if (to < c.at[0] || s[1] > c.at[c.at.length - 1])
		return 4;
	return s[4] | (s[1] < c.at[0] ? 1 : 0) | (to > c.at[c.at.length - 1] ? 2 : 0);
}

// Draw the calls of an address space. Returns their names with their places.
function drawSpans(c, {lane, deep}, y, x, width) {
	const last = [], names = [];
	if (!hasPlaces(lane.vcpu))
		return names;
	for (const s of lane.spans) {
		const a = x(place(lane.vcpu, s[1], true)), top = y + ROW * (1 + s[3]);
		const b = Math.max(x(place(lane.vcpu, s[1] + s[2], false)), a), torn = tornAt(lane, s);
		if (b < 0 || a > width || s[3] >= deep || torn > 3)
			continue;
		// Calls that share a pixel are drawn once.
		if (b - a < 1 && last[s[3]] === Math.floor(a))
			continue;
		last[s[3]] = Math.floor(a);
		const left = Math.max(a, -2), w = Math.max(Math.min(b, width + 2) - left, 1);
		c.fillStyle = color(s[0]);
		c.fillRect(left, top, w - (w > 3 ? 0.5 : 0), ROW - 1);
		hits.push([left, top, w, s, lane]);
		c.fillStyle = css('--mark');
		// A torn edge: the call goes on outside of the trace.
		for (const [bit, at] of [[1, a], [2, b]])
			if (torn & bit && at >= 0 && at <= width)
				for (let i = 0; i < ROW - 1; i += 4)
					c.fillRect(at - (bit === 2 ? 2 : 0), top + i, 2, 2);
		if (view.picked === s) {
			c.strokeStyle = css('--text');
			c.strokeRect(left, top, w, ROW - 1);
		}
		if (w > 30) {
			const name = data.functions[s[0]], fits = Math.floor((w - 8) / 6.7);
			names.push([name.length > fits ? name.slice(0, fits - 1) + '…' : name, Math.max(left, 0) + 4, top + 12]);
		}
	}
	return names;
}

function drawSeries(c, s, y, x, width) {
	const max = Math.max(...s.buckets), wide = 2 ** s.shift;
	if (!hasPlaces(s.vcpu))
		return;
	c.fillStyle = css('--line');
	if (s.stride > 1)
		s.buckets.forEach((n, i) => {
			if (!n)
				return;
			const left = x(place(s.vcpu, i * wide, true)), right = x(place(s.vcpu, (i + 1) * wide, false));
			c.fillRect(left, y + ROW - 2 - n / max * 12, Math.max(right - left, 1), n / max * 12);
		});
	c.fillStyle = css('--mark');
	let last;
	for (const e of s.list) {
		const at = x(eventPlace(s, e));
		if (!(at >= -3 && at <= width + 3) || Math.abs(at - last) < 0.5)
			continue;
		last = at;
		c.fillRect(at - 1, y + 2, 2, ROW - 5);
		hits.push([at - 3, y, 6, e, s]);
	}
}

function drawAxis(c, x, width) {
	const step = 10 ** Math.floor(Math.log10(Math.max((view.to - view.from) / 4, 1)));
	c.fillStyle = css('--soft');
	for (let n = Math.ceil(view.from / step) * step, seen = -200; n <= view.to; n += step) {
		if (x(n) - seen < 110)
			continue;
		seen = x(n);
		c.fillRect(seen, 0, 1, 5);
		if (seen < width - 80)
			c.fillText(axis.time ? timeText(n, step, view.to) : plural(Math.round(n)), seen + 3, 13);
	}
}

function draw() {
	layOut();
	styles.clear();
	const width = canvas.clientWidth, scale = window.devicePixelRatio || 1;
	canvas.width = width * scale;
	canvas.height = tall * scale;
	canvas.style.height = `${tall}px`;
	const c = canvas.getContext('2d');
	c.scale(scale, scale);
	c.font = '11px monospace';
	hits = [];
	const x = (n) => (n - view.from) * width / (view.to - view.from);
	drawAxis(c, x, width);
	const gap = new Map();
	let y = AXIS, idle = false;
	for (const r of lines) {
		c.fillStyle = css('--line');
		c.fillRect(0, y - 1, width, 1);
		if (r.lane) {
			const out = r.lane.omitted ? gap.get(r.lane.vcpu) || gaps(r.lane.vcpu, width) : null;
			const names = drawSpans(c, r, y, x, width), pale = idlePlaces(r, y, x, width);
			drawIdle(c, pale, names);
			idle = idle || pale.length > 0;
			if (out) {
				gap.set(r.lane.vcpu, out);
				c.fillStyle = css('--soft');
				out.found.forEach((left) => c.fillRect(left, y + r.height - 4, GAP, 2));
			}
		} else {
			drawSeries(c, r.series, y, x, width);
		}
		c.font = 'bold 11px monospace';
		const v = (r.lane || r.series).vcpu;
		const title = hasPlaces(v) ? r.title : `${r.title}, without a known time`;
		// Events below the title can still be seen.
		c.globalAlpha = 0.75;
		c.fillStyle = css('--panel');
		c.fillRect(3, y + 1, c.measureText(title).width + 4, ROW - 3);
		c.globalAlpha = 1;
		c.fillStyle = css('--text');
		c.fillText(title, 4, y + 12);
		c.font = '11px monospace';
		y += r.height;
	}
	id('range').textContent = axis.time
		? `time ${timeText(view.from, (view.to - view.from) / 100, view.to)} to ${timeText(view.to, (view.to - view.from) / 100, view.to)}`
		: `instructions ${plural(Math.round(view.from))} to ${plural(Math.round(view.to))} of each vCPU`;
	id('axis').setAttribute('aria-pressed', axis.time);
	const least = [...gap.values()].reduce((most, g) => Math.max(most, g.least), 0);
	id('omitted').textContent = omittedText(least) +
		(idle ? ' Where calls are pale, their address space does not run.' : '') +
		(hidden ? ` ${plural(hidden)} address spaces have no row, since they do not run in view or the picture is full.` : '');
	remember();
	addSoon(least);
	if (id('calls').parentElement.open)
		listCalls();
}

function show(from, to) {
	const [first, last] = edges();
	const size = Math.min(Math.max(to - from, 4), last - first);
	view.from = Math.min(Math.max(from, first), last - size);
	view.to = view.from + size;
	draw();
}

// Show instructions of a vCPU. Where they have no time, the axis becomes that of instructions.
function showClocks(v, from, to) {
	const c = clocks.get(v);
	if (axis.time && !(c && to >= c.at[0] && from <= c.at[c.at.length - 1]))
		axis.time = false;
	show(place(v, from, false), place(v, to, true));
}

// Change the axis. The part of the first vCPU with times stays in view.
function changeAxis() {
	const v = [...clocks.keys()][0];
	if (v === undefined)
		return;
	const whole = view.from <= edges()[0] && view.to >= edges()[1];
	const from = clockOf(v, view.from), to = clockOf(v, view.to);
	axis.time = !axis.time;
	if (whole)
		show(...edges());
	else
		show(place(v, from, false), place(v, to, true));
}

// The address of the page has the axis and the range, so that it can be kept and sent.
let timer = 0;
const address = () => `#axis=${axis.time ? 'time' : 'instructions'}&from=${Math.floor(view.from)}&to=${Math.ceil(view.to)}`;
function remember() {
	clearTimeout(timer);
	timer = setTimeout(() => history.replaceState(null, '', address()), 200);
}
function recall() {
	const of = new URLSearchParams(location.hash.slice(1));
	const from = parseFloat(of.get('from')), to = parseFloat(of.get('to'));
	if (!of.has('axis') || !(to > from))
		return false;
	axis.time = of.get('axis') === 'time' && clocks.size > 0;
	show(from, to);
	return true;
}
window.addEventListener('hashchange', recall);

function zoom(factor, at) {
	const size = (view.to - view.from) * factor;
	const where = at === undefined ? 0.5 : at;
	const center = view.from + (view.to - view.from) * where;
	show(center - size * where, center + size * (1 - where));
}

function pan(part) {
	const by = (view.to - view.from) * part;
	show(view.from + by, view.to + by);
}

function spanText(s, lane) {
	const from = timeAt(lane.vcpu, s[1], true), to = timeAt(lane.vcpu, s[1] + s[2], false);
	const time = from === undefined || to === undefined ? '' : `, ${timeText(Math.max(to - from, 0))} from ${timeText(from)} on`;
	const how = ['', ', cut at its beginning', ', cut at its end', ', cut at both ends'][s[4]];
	return `${data.functions[s[0]]}: ${plural(s[2])} instructions from ${plural(s[1])} on${time}${how}`;
}

function eventText(s, e) {
	const time = eventTime(s, e);
	return [`vCPU ${s.vcpu}: ${s.label} at instruction ${plural(e.at)}`, time === undefined ? time : `time ${timeText(time)}`, e.text,
		...['from', 'to', 'value', 'tsc'].filter((k) => e[k]).map((k) => `${k} ${e[k]}`)]
		.filter((t) => t !== undefined).join(', ');
}

// List what is in view, in its order on the axis. Where two have one time, the order is that of the instructions.
function listCalls() {
	const list = [];
	for (const s of data.events)
		for (const e of s.list) {
			const at = eventPlace(s, e);
			if (at >= view.from && at <= view.to)
				list.push({at, clock: e.at, length: 0, row: [`vCPU ${s.vcpu}`, eventText(s, e)]});
		}
	for (const lane of data.lanes)
		for (const s of hasPlaces(lane.vcpu) ? lane.spans : []) {
			const at = place(lane.vcpu, s[1], true), to = place(lane.vcpu, s[1] + s[2], false);
			if (to >= view.from && at <= view.to && tornAt(lane, s) < 4)
				list.push({at, clock: s[1], length: s[2], row: [lane.name, spanText(s, lane)]});
		}
	list.sort((a, b) => b.length - a.length);
	list.length = Math.min(list.length, 500);
	list.sort((a, b) => a.at - b.at || a.clock - b.clock);
	const step = (view.to - view.from) / 1000;
	table(id('calls'), [...axis.time ? [['time', 0]] : [], ['instruction', 1], ['length', 1], ['where', 0], ['what', 0]],
		list.map((e) => [...axis.time ? [timeText(e.at, step, view.to)] : [], e.clock, e.length, ...e.row]));
}

canvas.addEventListener('wheel', (e) => {
	if (!e.ctrlKey && !e.shiftKey && document.activeElement !== canvas)
		return;
	e.preventDefault();
	zoom(e.deltaY > 0 ? 1.25 : 0.8, e.offsetX / canvas.clientWidth);
}, {passive: false});
let grabbed = null;
canvas.addEventListener('pointerdown', (e) => {
	grabbed = {x: e.offsetX, from: view.from, to: view.to};
	canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener('pointerup', () => { grabbed = null; });
canvas.addEventListener('pointermove', (e) => {
	if (grabbed) {
		const by = (grabbed.x - e.offsetX) * (view.to - view.from) / canvas.clientWidth;
		show(grabbed.from + by, grabbed.to + by);
		return;
	}
	const hit = hits.findLast(([l, t, w]) => e.offsetX >= l && e.offsetX <= l + w && e.offsetY >= t && e.offsetY < t + ROW);
	id('tip').textContent = !hit ? '\u00a0' : Array.isArray(hit[3]) ? spanText(hit[3], hit[4]) : eventText(hit[4], hit[3]);
});
canvas.addEventListener('dblclick', (e) => zoom(0.5, e.offsetX / canvas.clientWidth));
canvas.addEventListener('keydown', (e) => {
	const act = {'+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => show(...edges()), t: changeAxis,
		ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25)}[e.key];
	if (act) {
		e.preventDefault();
		act();
	}
});
id('in').onclick = () => zoom(0.5);
id('out').onclick = () => zoom(2);
id('left').onclick = () => pan(-0.25);
id('right').onclick = () => pan(0.25);
id('all').onclick = () => show(...edges());
id('axis').onclick = changeAxis;
id('axis').disabled = !clocks.size;
id('axisnote').textContent = axisNote(data.lanes);
id('calls').parentElement.addEventListener('toggle', draw);
window.addEventListener('resize', () => { draw(); flame(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

// The flame graph of one lane, from a node on.
let root = 0;
function nodeText(lane, i) {
	const [, func, calls, own, all] = lane.nodes[i];
	return `${func < 0 ? lane.name : data.functions[func]}: ${plural(calls)} calls, ${plural(all)} instructions, ${plural(own)} of its own`;
}

function flame() {
	const svg = id('flame'), lane = data.lanes[id('lane').value], width = svg.clientWidth || 1000;
	svg.replaceChildren();
	if (!lane || !lane.nodes.length)
		return;
	let deepest = 0;
	const box = (i, left, w, depth) => {
		const [, func] = lane.nodes[i], g = document.createElementNS(SVG, 'g');
		const title = document.createElementNS(SVG, 'title'), rect = document.createElementNS(SVG, 'rect');
		title.textContent = nodeText(lane, i);
		const at = {x: left, y: depth * ROW, width: Math.max(w - 0.5, 0.5), height: ROW - 1, fill: func < 0 ? '#c8ced6' : color(func)};
		for (const k in at)
			rect.setAttribute(k, at[k]);
		g.append(title, rect);
		if (w > 24) {
			const t = document.createElementNS(SVG, 'text'), fits = Math.floor((w - 6) / 6.7);
			const name = func < 0 ? lane.name : data.functions[func];
			t.textContent = name.length > fits ? name.slice(0, fits - 1) + '…' : name;
			t.setAttribute('x', left + 3);
			t.setAttribute('y', depth * ROW + 12);
			g.append(t);
		}
		if (w > 12) {
			g.setAttribute('tabindex', '0');
			g.setAttribute('role', 'button');
			g.setAttribute('aria-label', title.textContent);
		}
		const pick = () => { root = i === root && i ? lane.nodes[i][0] : i; flame(); };
		g.addEventListener('click', pick);
		g.addEventListener('keydown', (e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); pick(); } });
		g.addEventListener('pointerenter', () => { id('flametip').textContent = title.textContent; });
		svg.append(g);
		deepest = Math.max(deepest, depth + 1);
	};
	const todo = [[root, 0, width, 0]];
	while (todo.length) {
		const [i, left, w, depth] = todo.pop();
		box(i, left, w, depth);
		let next = left;
		for (const child of lane.children[i]) {
			const cw = w * lane.nodes[child][4] / Math.max(lane.nodes[i][4], 1);
			if (cw >= 0.5 && depth < 200)
				todo.push([child, next, cw, depth + 1]);
			next += cw;
		}
	}
	svg.style.height = `${deepest * ROW + 2}px`;
	tree(lane);
}

// The tree of calls: a branch is made when it is opened.
function tree(lane) {
	const add = (to, i) => {
		const kids = lane.children[i].slice().sort((a, b) => lane.nodes[b][4] - lane.nodes[a][4]);
		if (!kids.length) {
			element(to, 'div', nodeText(lane, i), 'leaf');
			return;
		}
		const d = element(to, 'details');
		element(d, 'summary', nodeText(lane, i));
		d.addEventListener('toggle', () => {
			if (d.childElementCount === 1)
				kids.forEach((k) => add(d, k));
		});
	};
	id('tree').replaceChildren();
	add(id('tree'), root);
}

const order = data.lanes.map((_, i) => i).sort((a, b) => data.lanes[b].insns - data.lanes[a].insns);
for (const i of order)
	element(id('lane'), 'option', `${data.lanes[i].name} (${plural(data.lanes[i].insns)})`).value = i;
id('lane').onchange = () => { root = 0; flame(); };
id('reset').onclick = () => { root = 0; flame(); };

// Ask the server of a served page. Where a note is shown in the meantime, an error stays.
async function ask(what, note) {
	id(note).textContent = 'The server decodes the trace …';
	try {
		const answer = await fetch(what), text = await answer.text();
		if (answer.ok) {
			id(note).textContent = '\u00a0';
			return JSON.parse(text);
		}
		id(note).textContent = text;
	} catch {
		id(note).textContent = 'The server does not answer.';
	}
	return null;
}

// Add the calls and events of a part of a vCPU. A call that reaches its edges may be in the page as a whole.
const numbers = new Map(data.functions.map((name, i) => [name, i]));
function merge(part) {
	const number = (name) => {
		if (!numbers.has(name)) {
			numbers.set(name, data.functions.push(name) - 1);
			data.totals.push([0, 0, 0]);
		}
		return numbers.get(name);
	};
	const of = part.functions.map(number);
	for (const p of part.lanes) {
		const lane = data.lanes.find((l) => l.name === p.name);
		if (!lane)
			continue;
		const near = lane.spans.filter((s) => s[1] <= part.to && s[1] + s[2] >= part.from);
		const inside = new Set(near.map((s) => s.slice(0, 4).join()));
		for (const s of p.spans) {
			s[0] = of[s[0]];
			const edge = s[1] === part.from || s[1] + s[2] === part.to;
			if (edge ? !near.some((n) => n[0] === s[0] && n[3] === s[3] && n[1] <= s[1] && n[1] + n[2] >= s[1] + s[2])
				: !inside.has(s.slice(0, 4).join()))
				lane.spans.push(s);
		}
		prepare(lane);
		mergeRuns(lane, p, part.from, part.to);
	}
	part.events.forEach(unpackEvents);
	for (const p of part.events) {
		const s = data.events.find((e) => e.vcpu === p.vcpu && e.name === p.name);
		if (s)
			s.list = s.list.filter((e) => e.at < part.from || e.at >= part.to).concat(p.list);
	}
	part.times.forEach((t, v) => mergePoints(v, t));
}

id('more').hidden = !data.starts;
id('more').onclick = addCalls;

// The instructions of a function: counts, source lines, outcomes and targets of branches.
const codes = new Map();
const share = (n, all) => all ? `${(n * 100 / all).toFixed(n * 100 / all < 10 ? 1 : 0)} %` : '';

function branchText(r) {
	if (r.not !== undefined)
		return `taken ${plural(r.taken)} (${share(r.taken, r.taken + r.not)}), not taken ${plural(r.not)}`;
	if (!r.to)
		return '';
	const list = r.to.map(([name, n]) => `${name} ${plural(n)}`);
	if (r.more)
		list.push(`${plural(r.more[0])} others ${plural(r.more[1])}`);
	return `to ${list.join(', ')}`;
}

// A source file is read as bytes, and is usually UTF-8.
const utf8 = (text) => new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0)));

// The source file of a row. A server sends files with each function.
const sourceOf = (c, number) => (c.source || data.source || [])[number];

function addLine(body, file, line, text) {
	const tr = element(body, 'tr', undefined, 'line'), where = element(tr, 'td', `${file}:${line}`, 'soft'), cell = element(tr, 'td');
	where.colSpan = cell.colSpan = 2;
	if (text !== undefined)
		element(cell, 'code', utf8(text));
}

// Which source lines of a function have no text, and why.
function lacksText(c) {
	const used = new Set(c.rows.filter((r) => r.src !== undefined).map((r) => sourceOf(c, r.src)));
	const list = [...used].filter((f) => f && f.why).map((f) => `${utf8(f.name)}: ${f.why}`);
	return list.length ? ` Source lines without text: ${list.join('; ')}.` : '';
}

function showCode(c) {
	const body = element(null, 'tbody'), t = element(null, 'table');
	const most = c.rows.reduce((m, r) => Math.max(m, r.n || 0), 1);
	const head = element(element(t, 'thead'), 'tr');
	let file = '', source;
	for (const [title, cls] of [['offset', 'n'], ['runs', 'n'], ['instruction', ''], ['branch', '']])
		element(head, 'th', title, cls).scope = 'col';
	for (const r of c.rows) {
		file = r.file || file;
		if (r.src !== undefined)
			source = sourceOf(c, r.src);
		if (r.line)
			addLine(body, file, r.line, source && source.lines[r.line]);
		const tr = element(body, 'tr', undefined, r.cold || !r.n ? 'cold' : '');
		element(tr, 'td', `+0x${r.at.toString(16)}`, 'n soft');
		const runs = element(tr, 'td', r.cold ? '' : plural(r.n), 'n heat');
		runs.style.setProperty('--part', `${(r.n || 0) * 100 / most}%`);
		element(tr, 'td', r.cold ? `${plural(r.cold)} instructions that did not run` : r.text);
		element(tr, 'td', branchText(r));
	}
	t.append(body);
	id('code').replaceChildren(t);
	const sum = c.rows.reduce((n, r) => n + (r.n || 0), 0);
	id('codenote').textContent = `${data.functions[c.function]} at ${c.start}: ${plural(sum)} instructions ran in it.` +
		(c.whole ? '' : ' The end of the function is not in the page.') +
		(c.other ? ' Other code was at these addresses at other times or in other address spaces. Where its instructions have the same bounds, they are counted here.' : '') +
		lacksText(c);
}

function addCode(c) {
	codes.set(c.function, c);
	element(id('which'), 'option', data.functions[c.function]).value = c.function;
}

// A served page gets the instructions of other functions from its server.
async function goCode(f) {
	if (!codes.has(f)) {
		const answer = await ask(`code?at=${data.starts[f]}`, 'codenote');
		if (!answer)
			return;
		addCode({function: f, ...answer});
	}
	id('which').value = f;
	showCode(codes.get(f));
	id('h-code').scrollIntoView();
	id('h-code').focus({preventScroll: true});
}

data.code.forEach(addCode);
id('which').onchange = () => showCode(codes.get(Number(id('which').value)));

// The table of functions, which can be sorted. It has the first ones, and one that was searched for.
const MOST_FUNCTIONS = 3000;
let functionRows = [], sortKey = 'own', wanted = -1;
function functions(key) {
	const all = totals.map((f, i) => [f, i]).sort((a, b) => key === 'name'
		? (a[0].name < b[0].name ? -1 : 1) : b[0][key] - a[0][key] || a[1] - b[1]);
	const list = all.filter(([, i], place) => place < MOST_FUNCTIONS || i === wanted);
	sortKey = key;
	functionRows = [];
	const t = table(id('functions'), [['own', 1], ['with callees', 1], ['calls', 1], ['function', 0]],
		list.map(([f]) => [f.own, f.all, f.calls, f.name]), (tr, i) => {
			const f = list[i][1], cell = tr.cells[3];
			functionRows[f] = tr;
			if (!codes.has(f) && !data.starts)
				return;
			const b = element(null, 'button', cell.textContent);
			b.title = 'show its instructions';
			b.onclick = () => goCode(f);
			cell.replaceChildren(b);
		});
	['own', 'all', 'calls', 'name'].forEach((k, i) => {
		const th = t.tHead.rows[0].cells[i], b = element(null, 'button', th.textContent);
		b.onclick = () => functions(k);
		th.setAttribute('aria-sort', k === key ? (k === 'name' ? 'ascending' : 'descending') : 'none');
		th.replaceChildren(b);
	});
}

// Search: each result has its text and what a click on it does.
function goFunction(f) {
	document.querySelectorAll('.hit').forEach((tr) => tr.classList.remove('hit'));
	if (!functionRows[f]) {
		wanted = f;
		functions(sortKey);
	}
	functionRows[f].classList.add('hit');
	let best = null, v = 0;
	for (const lane of data.lanes)
		for (const s of lane.spans)
			if (s[0] === f && (!best || s[2] > best[2])) {
				best = s;
				v = lane.vcpu;
			}
	view.picked = best;
	if (best)
		showClocks(v, best[1] - best[2], best[1] + 2 * best[2]);
	functionRows[f].scrollIntoView({block: 'center'});
}

function goLane(i) {
	id('lane').value = i;
	root = 0;
	flame();
	id('lane').focus();
}

// The events of a kind whose text has the query. One search through the lines of all is quicker than one of each.
function* foundEvents(s, q) {
	if (s.linesOf !== s.list) {
		const lines = s.list.map((e) => eventText(s, e).toLowerCase());
		let end = 0;
		s.linesOf = s.list;
		s.lines = lines.join('\n');
		s.ends = lines.map((line) => end += line.length + 1);
	}
	for (let at = s.lines.indexOf(q), i = 0; at >= 0; at = s.lines.indexOf(q, s.ends[i++])) {
		while (s.ends[i] <= at)
			i++;
		yield s.list[i];
	}
}

// Functions with exactly this name come first, since not all results are shown.
function* results(q) {
	const found = data.functions.map((name, i) => [name.toLowerCase(), i]).filter(([name]) => name.includes(q));
	for (const exact of [true, false])
		for (const [name, i] of found)
			if ((name === q) === exact)
				yield [`function ${data.functions[i]}`, () => goFunction(i)];
	for (let i = 0; i < data.lanes.length; i++)
		if (data.lanes[i].name.toLowerCase().includes(q))
			yield [`address space ${data.lanes[i].name}`, () => goLane(i)];
	for (const s of data.events)
		for (const e of foundEvents(s, q))
			yield [eventText(s, e), () => { showClocks(s.vcpu, e.at - 500, e.at + 500); canvas.focus(); }];
}

id('query').addEventListener('input', () => {
	const q = id('query').value.trim().toLowerCase(), list = id('found');
	let n = 0;
	list.replaceChildren();
	list.hidden = !q;
	if (!q)
		return;
	for (const [text, go] of results(q)) {
		if (++n > 200)
			continue;
		element(element(list, 'li'), 'button', text).onclick = () => { list.hidden = true; go(); };
	}
	element(list, 'li', n > 200 ? `${plural(n)} results, of which 200 are shown` : n ? `${plural(n)} results` : 'nothing found');
});
id('query').addEventListener('keydown', (e) => {
	if (e.key === 'Escape')
		id('found').hidden = true;
	if (e.key === 'Enter')
		id('found').querySelector('button')?.click();
});

id('summary').textContent = `${plural(data.insns)} instructions, ${plural(data.functions.length)} functions`;
table(id('facts'), [['fact', 0], ['value', 0]], data.facts);
table(id('lost'), [['what', 0], ['why', 0]], data.lost);
table(id('events'), [['vCPU', 1], ['event', 0], ['count', 1], ['kept in this page: one of', 1]],
	data.events.map((s) => [s.vcpu, s.label, s.total, s.stride]));
functions('own');
if (data.code.length)
	showCode(data.code[0]);
if (!recall())
	draw();
flame();
// A measure of the test: the browser has shown the timeline.
requestAnimationFrame(() => setTimeout(() => performance.mark('timeline')));
