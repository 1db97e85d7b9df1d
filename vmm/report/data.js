// SPDX-License-Identifier: GPL-2.0-or-later
// The page of vpt report. Names come from guests: they are only ever textContent.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const id = (name) => document.getElementById(name);
const numerals = new Intl.NumberFormat('en');
const plural = (n) => numerals.format(n);
const ROW = 17, AXIS = 22, SVG = 'http://www.w3.org/2000/svg';

// Make the list of a kind of events from its columns. Words are addresses as text, and the first one has the number 1.
// A time of -1 means that there is none.
function unpackEvents(s) {
	const c = s.columns;
	if (!c)
		return;
	let at = 0;
	s.list = c.at.map((distance, i) => {
		const e = {at: at += distance};
		if (c.time[i] >= 0)
			e.time = c.time[i];
		for (const name of ['from', 'to', 'value', 'tsc'])
			if (c[name][i])
				e[name] = c.words[c[name][i] - 1];
		return e;
	});
	delete s.columns;
}
data.events.forEach(unpackEvents);
