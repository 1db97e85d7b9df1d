# SPDX-License-Identifier: GPL-2.0-or-later
# usage: speedscope.py CALLS JSON    Compares a profile with the calls of a trace.
# The rules are those of file-format-spec.ts of speedscope for evented profiles. Frames are opened
# again when another address space has run, so only traces with one have as many as there are calls.
import json
import sys

from timeline import Spans

with open(sys.argv[2], encoding="ascii") as f:
    file = json.load(f)
assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
assert set(file) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
frames = file["shared"]["frames"]
assert all(set(f) == {"name"} and isinstance(f["name"], str) for f in frames)
spans = Spans()
marks = 0
for profile in file["profiles"]:
    assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "events"}
    assert profile["type"] == "evented" and profile["unit"] == "none"
    stack = []
    at = profile["startValue"]
    for e in profile["events"]:
        assert set(e) == {"type", "frame", "at"} and e["at"] >= at
        at = e["at"]
        name = frames[e["frame"]]["name"]
        if e["type"] == "O":
            stack.append(e["frame"])
        else:
            assert e["type"] == "C" and stack.pop() == e["frame"]
        if name == "[cut]":
            marks += 1
        elif not name.startswith("vCPU"):
            cut = name.endswith(" [cut]")
            if e["type"] == "O":
                spans.begin(profile["name"], at, name.removesuffix(" [cut]"),
                            "not in the trace" if cut else None)
            else:
                spans.end(profile["name"], at, None)
    assert not stack and at <= profile["endValue"]
print("ends not in the trace: %d" % (marks // 2))
sys.exit(spans.check(sys.argv[1]) or (0 if marks else 1))
