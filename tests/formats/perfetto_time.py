# SPDX-License-Identifier: GPL-2.0-or-later
# usage: perfetto_time.py VPT FILE CHROME    Reads what protoc decodes of an export to perfetto, and
# compares its timestamps with the times of vpt decode. CHROME is the export to chrome, whose events
# are the same in the same order and have the clocks of the vCPUs.
import bisect
import json
import re
import subprocess
import sys

VPT, FILE, CHROME = sys.argv[1:]


def vpt(*words):
    return subprocess.run([VPT, *words, FILE], capture_output=True, text=True,
                          check=True).stdout.splitlines()


info = json.loads(vpt("info", "--json")[0])
hz = info["tsc_hz"]
times = []
for vcpu in range(len(info["vcpus"])):
    rows = map(json.loads, vpt("decode", "--insn", "--time", "--json", "--vcpu=%d" % vcpu))
    times.append([row["time"] for row in rows if "insn" in row])
first = min(int(t[0], 16) if isinstance(t[0], str) else t[0] for t in times)


def ns(time):
    return ((int(time, 16) if isinstance(time, str) else time) - first) * 10**9 // hz


with open(CHROME, encoding="utf-8") as f:
    events = [e for e in json.load(f)["traceEvents"] if e["ph"] in "BEi"]
stamps = []
for packet in sys.stdin.read().split("\npacket {\n"):
    if "  track_event {" in packet:
        kind = re.search(r"^    type: TYPE_(SLICE_)?(\w)", packet, re.M).group(2)
        stamps.append((kind, int(re.search(r"^  timestamp: (\d+)", packet, re.M).group(1))))
assert len(stamps) == len(events), (len(stamps), len(events))
at = [[ns(t) for t in of] for of in times]
between = 0
for (kind, stamp), event in zip(stamps, events):
    assert kind == event["ph"].upper(), (kind, event)
    of, clock = at[event["pid"] - 1], round(event["ts"] * 1000)
    if clock >= len(of):
        assert stamp >= of[-1]
        continue
    after = bisect.bisect_right(of, of[clock])
    # Between two known times the time is interpolated.
    assert of[clock] <= stamp, (event, of[clock], stamp)
    assert after == len(of) or stamp <= of[after], (event, of[clock], stamp)
    between += stamp != of[clock]
starts = [of[0] for of in at]
print("events: %d, interpolated: %d, first times: %s" % (len(events), between, starts))
sys.exit(0 if between and len(set(starts)) > 1 else 1)
