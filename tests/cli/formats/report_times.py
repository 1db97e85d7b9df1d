# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the times in a page with those of a listing. usage: report_times.py PAGE LISTING [none|FLAG...]

LISTING is of vpt decode -T -i -j. With "none" the page must have no time. FLAG "sleep": time passes
without instructions; "vcpus": two vCPUs have times; "thin": the page has a part of the times;
"rtit": of instructions in the middle of a packet, only the times are compared.
"""
import bisect
import collections
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    data = json.loads(re.search(r'id="data">\n(.*?)\n</script>', f.read(), re.S)[1])
if "none" in sys.argv:
    assert not any(t["known"] or t["points"] for t in data["times"]), data["times"]
    assert not any("time" in e for s in data["events"] for e in s["list"])
    sys.exit()

clocks = collections.Counter()
first = [int(t["first"], 16) for t in data["times"]]
events, known = collections.Counter(), collections.defaultdict(list)
with open(sys.argv[2], encoding="latin-1") as f:
    for line in f:
        item = json.loads(line)
        v = item.get("vcpu", 0)
        if "time" in item:
            time = int(item["time"], 16)
            # A listing omits the state in a PSB+, which can be earlier.
            assert time >= first[v]
            known[v].append((clocks[v], time))
            if "event" in item:
                events[v, item["event"], clocks[v], time - first[v]] += 1
        if "ip" in item and "insn" in item:
            clocks[v] += 1

sleeps = compared = 0
for v, times in enumerate(data["times"]):
    at, tsc, place, ticks = [], [], 0, 0
    for i in range(0, len(times["points"]), 2):
        place += times["points"][i]
        ticks += times["points"][i + 1]
        at.append(place)
        tsc.append(ticks)
    assert at == sorted(at) and tsc == sorted(tsc)
    sleeps += sum(a == b for a, b in zip(at, at[1:]))
    if "rtit" in sys.argv:
        # Instructions and blocks of RTIT can be at different packets.
        assert set(tsc) <= {time - first[v] for _, time in known[v]}
        compared += len(tsc)
        continue
    # The line is at the times of the listing, up to its error.
    last = None
    for clock, time in known[v]:
        time -= first[v]
        # Items after the first one at a time can be in the middle of a packet.
        if last is not None and time <= last:
            continue
        last = time
        low, high = bisect.bisect_left(at, clock), bisect.bisect_right(at, clock)
        if low == len(at) or at[low] != clock:
            assert 0 < low < len(at), (v, clock)
            part = (clock - at[low - 1]) / (at[low] - at[low - 1])
            least = most = tsc[low - 1] + part * (tsc[low] - tsc[low - 1])
        else:
            least, most = tsc[low], tsc[high - 1]
        error = times["error"] + 1
        assert least - error <= time <= most + error, (v, clock, time, least, most)
        compared += 1
for s in data["events"]:
    for e in s["list"]:
        if "time" in e:
            key = s["vcpu"], s["name"], e["at"], e["time"]
            assert events[key], (key, [k for k in events if k[:3] == key[:3]])
            compared += 1
print("times: %d, sleeps: %d" % (compared, sleeps))
assert compared > 20
assert sleeps or "sleep" not in sys.argv
assert "thin" not in sys.argv or any(t["error"] and t["known"] > len(t["points"]) // 2 for t in data["times"])
assert "vcpus" not in sys.argv or sum(t["known"] > 20 for t in data["times"]) > 1
