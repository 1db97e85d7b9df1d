// SPDX-License-Identifier: GPL-2.0-or-later
// The page of vpt report. Names come from guests: they are only ever textContent.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const id = (name) => document.getElementById(name);
const numerals = new Intl.NumberFormat('en');
const plural = (n) => numerals.format(n);
const ROW = 17, AXIS = 22, SVG = 'http://www.w3.org/2000/svg';

