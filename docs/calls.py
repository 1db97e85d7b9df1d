#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw a call tree: vpt decode --calls FILE | docs/calls.py >tree.svg

A box is a function that the function above it called. Its width is the number of instructions
of the function and of all functions that it called.
"""
import re
import sys
from html import escape

WIDTH = 960   # of the picture
HEIGHT = 19   # of a box
LETTER = 6.7  # the width of a letter
CALL = re.compile(r"( *)(\d+x)  (\S+)  \((\d+)")  # "    3x  study_formula  (1168741 insns)"


def read(lines):
    for line in lines:
        call = CALL.match(line)
        if call:
            yield len(call[1]) // 2 - 1, call[2], call[3], int(call[4])


def place(calls):
    """The depth, the left edge, the width and the call of each box."""
    total = sum(insns for depth, _, _, insns in calls if not depth)
    edge = {-1: 0.0}  # for each depth, the left edge of the next callee
    for depth, times, name, insns in calls:
        left, width = edge[depth - 1], insns * WIDTH / total
        edge[depth - 1] += width
        edge[depth] = left
        if width >= 1:
            yield depth, left, width, times, name, insns


def draw(depth, left, width, times, name, insns):
    fits = int((width - 8) / LETTER)
    text = name
    if len(text) > fits:
        text = text[:fits - 1] + "~" if fits > 3 else ""
    y, hue = depth * HEIGHT, 20 + (depth * 23 + len(name) * 7) % 40
    title = escape(name, quote=False)
    print(f'<g><title>{times} {title}, {insns} instructions</title>'
          f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT}" rx="2" '
          f'fill="hsl({hue},75%,72%)" stroke="#fff"/>', end="")
    if text:
        print(f'<text x="{left + 4:.1f}" y="{y + 13}">{escape(text, quote=False)}</text>', end="")
    print("</g>")


def main():
    calls = list(read(sys.stdin))
    if not calls:
        sys.exit(1)
    boxes = list(place(calls))
    height = (max(box[0] for box in boxes) + 1) * HEIGHT + 1
    print("<!-- SPDX-License-Identifier: GPL-2.0-or-later -->")
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
          f'viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11">')
    for box in boxes:
        draw(*box)
    print("</svg>")


main()
