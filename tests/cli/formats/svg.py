# SPDX-License-Identifier: GPL-2.0-or-later
# usage: svg.py FOLDED SVG    Compares the boxes of a picture with stacks.
import collections
import re
import sys
import xml.etree.ElementTree as xml

HEIGHT = 19
SVG = "{http://www.w3.org/2000/svg}"

sums = collections.Counter()  # (lane, frames...): instructions, with those of callees
with open(sys.argv[1], encoding="ascii") as lines:
    for line in lines:
        stack, insns = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        for depth in range(len(frames)):
            sums[tuple(frames[: depth + 1])] += int(insns)

lane, drawn, rows = None, collections.Counter(), collections.defaultdict(list)
picture = xml.parse(sys.argv[2]).getroot()
width = float(picture.get("width"))
for element in picture:
    if element.tag == SVG + "text":
        lane, insns = re.fullmatch(r"(.*): (\d+) instructions", element.text).groups()
        top = int(element.get("y")) - 13
        drawn[lane,] = total = int(insns)
    elif element.tag == SVG + "g":
        name, insns = re.fullmatch(r"\d+x (.*), (\d+) instructions", element.find(SVG + "title").text).groups()
        box = element.find(SVG + "rect")
        depth = (int(box.get("y")) - top) // HEIGHT
        left, wide = float(box.get("x")), float(box.get("width"))
        if abs(wide - int(insns) * width / total) > 0.1:
            sys.exit("a box of %s has another width: %s" % (name, wide))
        rows[lane, depth].append((left, left + wide, name.replace(";", ":"), int(insns)))
stacks = {}  # (lane, depth): the left edge, the right edge and the frames of each box
for lane, depth in sorted(rows):
    stacks[lane, depth] = []
    edge = 0
    for left, right, name, insns in sorted(rows[lane, depth]):
        if left < edge - 0.2 or right > width + 0.2:
            sys.exit("a box of %s overlaps another one" % name)
        edge = right
        above = stacks.get((lane, depth - 1), [(0, width, (lane,))])
        caller = [s for l, r, s in above if l <= (left + right) / 2 <= r]
        if len(caller) != 1:
            sys.exit("a box of %s has no caller above it" % name)
        stacks[lane, depth].append((left, right, (*caller[0], name)))
        drawn[(*caller[0], name)] += insns
wrong = [s for s in drawn if drawn[s] != sums[s]]
# A box narrower than half a pixel is omitted.
totals = {s[0]: n for s, n in sums.items() if len(s) == 1}
wrong += [s for s, n in sums.items() if s not in drawn and n * width / totals[s[0]] > 0.6]
for stack in wrong[:5]:
    print(";".join(stack), "drawn:", drawn[stack], "of stacks:", sums[stack])
print("boxes: %d" % len(drawn))
sys.exit(1 if wrong or len(drawn) < 10 else 0)
