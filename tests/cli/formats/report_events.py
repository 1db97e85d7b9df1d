#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""All events of a trace are in its page. Those of pages of its parts, which have few of each kind, are
the same.

usage: report_events.py VPT TRACE FOLDER PARTS    prints the number of events
"""
import json
import re
import subprocess
import sys

vpt, trace, folder, parts = sys.argv[1:4] + [int(sys.argv[4])]


def page(*options):
    name = folder + "/events.html"
    subprocess.run([vpt, "report", "-q", "-o", name, *options, trace], check=True)
    with open(name) as file:
        text = file.read()
    return json.loads(re.search(r'id="data">\n(.*?)\n</script>', text, re.S).group(1))


def listed(series):
    """The events of a kind as objects."""
    if "list" in series:
        return series["list"]
    columns, at, found = series["columns"], 0, []
    for i, distance in enumerate(columns["at"]):
        at += distance
        event = {"at": at}
        if columns["time"][i] >= 0:
            event["time"] = columns["time"][i]
        for name in "from", "to", "value", "tsc":
            if columns[name][i]:
                event[name] = columns["words"][columns[name][i] - 1]
        found.append(event)
    return found


whole = page("--no-times")
packed = [s["name"] for s in whole["events"] if "columns" in s]
assert packed, "no kind has so many events that they are packed"
edges = [whole["insns"] * i // parts for i in range(parts + 1)]
pieces = [page("--no-times", f"--from={a}", f"--until={b}") for a, b in zip(edges, edges[1:])]
assert not any("columns" in s for p in pieces for s in p["events"]), "a part has too many events"
for series in whole["events"]:
    events = listed(series)
    assert len(events) == series["total"], f"{series['name']}: {len(events)} of {series['total']}"
    if series["name"] not in packed:
        continue
    others = [e for p in pieces for s in p["events"] if s["name"] == series["name"] for e in s["list"]]
    assert [e for e in events if e["at"] not in edges] == [e for e in others if e["at"] not in edges], \
        f"{series['name']}: other events in parts"
print(sum(s["total"] for s in whole["events"]))
