# SPDX-License-Identifier: GPL-2.0-or-later
# usage: chrome.py CALLS JSON    Compares trace events with the calls of a trace.
import json
import sys

from timeline import Spans

with open(sys.argv[2], encoding="ascii") as f:
    events = json.load(f)["traceEvents"]
spans = Spans()
instants = 0
named = set()
for e in events:
    lane = e["pid"], e["tid"]
    # Microseconds with three digits, of which a double holds enough.
    clock = round(e.get("ts", 0) * 1000)
    if e["ph"] == "M":
        named.add((lane, e["name"]))
    elif e["ph"] == "B":
        spans.begin(lane, clock, e["name"], e.get("args", {}).get("begin"))
    elif e["ph"] == "E":
        spans.end(lane, clock, e.get("args", {}).get("end"))
    else:
        assert e["ph"] == "i" and e["name"]
        instants += 1
for lane in spans.clock:
    assert (lane, "thread_name") in named and (lane, "process_name") in named
print("instants: %d" % instants)
sys.exit(spans.check(sys.argv[1]) or (0 if instants else 1))
