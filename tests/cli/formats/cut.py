# SPDX-License-Identifier: GPL-2.0-or-later
# usage: cut.py VPT CUTS FILE [OPTION...]    Compares the parts that vpt decode shows of a trace at
# random places with the whole. OPTIONs select a part of the flow in both. The parts before and from
# a place A must make up the whole, and a part from A to B must be its lines.
import collections
import functools
import json
import random
import re
import subprocess
import sys

VPT, CUTS, FILE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SELECT = sys.argv[4:]
done = collections.Counter()


# What is asked of the whole does not depend on the places, and is asked for each of them.
@functools.cache
def vpt(*words):
    # A part can end before the place that cannot be decoded, so the status may differ.
    run = subprocess.run([VPT, "decode", *words, FILE], capture_output=True, text=True)
    assert run.returncode in (0, 1), run
    return run.stdout.splitlines()


def check(what, got, want):
    done[what] += 1
    if got == want:
        return
    got, want = list(got), list(want)
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    print(what, "differs at", at, "of", len(want), "and", len(got), "lines")
    print(" want", want[at:at + 2], "\n got ", got[at:at + 2])
    sys.exit(1)


def clocks(lines):
    """The clock before each line of a listing, and whether it is an instruction or a block."""
    clock = 0
    for line in lines:
        block = re.search(r"[0-9a-f]{16}\.\.[0-9a-f]{16} +(\d+)  ", line)
        yield clock, line
        if not line.startswith("-- ") and " -- " not in line[:60]:
            clock += int(block.group(1)) if block else 1


def listing(mode, vcpu, a, b):
    words = [mode, "--vcpu=%d" % vcpu]
    rows = list(clocks(whole[mode, vcpu]))
    want = [line for clock, line in rows if a <= clock < b]
    begin = next((clock for clock, _ in rows if clock >= a), a)
    if want and a:
        space = None
        for clock, line in rows:
            if clock >= a:
                break
            if line.startswith("-- vCPU "):
                space = None
            elif line.startswith("-- in "):
                space = line
        want[:0] = ["-- vCPU %d, from instruction %d on" % (vcpu, begin)] + ([space] if space else [])
    check("lines of " + mode, vpt(*words, "--from=%d" % a, "--until=%d" % b), want)


def halves(*words):
    return [vpt(*words, *SELECT, *part) for part in (["--until=%s" % PLACE], ["--from=%s" % PLACE])]


def concatenated(vcpu, *words):
    words = [*words, "--json", "--vcpu=%d" % vcpu]
    first, second = halves(*words)
    check("JSON of " + words[0], first + second, vpt(*words, *SELECT))


def tree(lines):
    """The calls by the chain of callers: count, instructions, ticks, begun before, not ended."""
    calls = collections.Counter()
    path = []
    for row in map(json.loads, lines):
        path[row["depth"]:] = [row["function"]]
        for key in ("count", "insns", "ticks", "begun_before", "not_ended"):
            calls[(row.get("space"), *path, key)] += row.get(key, 0)
    return {key: n for key, n in calls.items() if n}


def added(first, second):
    return dict(collections.Counter(first) + collections.Counter(second))


def marks(calls, which):
    return {key[:-1]: n for key, n in calls.items() if key[-1] == which}


def numbers(calls):
    return {k: n for k, n in calls.items() if k[-1] not in ("begun_before", "not_ended")}


def calls(*words):
    first, second = map(tree, halves("--calls", "--json", *words))
    both = tree(vpt("--calls", "--json", *words, *SELECT))
    check("calls", sorted(added(numbers(first), numbers(second)).items(), key=str),
          sorted(both.items(), key=str))
    if not SELECT and "--spaces" not in words:
        check("divided calls", sorted(marks(first, "not_ended").items()),
              sorted(marks(second, "begun_before").items()))
        done["calls that are divided"] += len(marks(first, "not_ended"))


def totals(*words):
    def sums(lines):
        row = json.loads(lines[0])
        out = collections.Counter({key: row[key] for key in ("insns", "blocks")})
        out.update(row["events"])
        for space in row.get("spaces", []):
            for key in ("insns", "blocks", "vm_entries", "vm_exits", "time"):
                out[space["space"], key] += space.get(key, 0)
        out["marks"] = len(row["marks"])
        return out
    first, second = map(sums, halves("--json", *words))
    check("the summary", sorted((first + second).items(), key=str),
          sorted((+sums(vpt("--json", *words, *SELECT))).items(), key=str))


def coverage():
    def lines(text):
        out = collections.Counter()
        name = None
        for line in text:
            name = line if line.startswith("SF:") else name
            found = re.fullmatch(r"(DA:\d+|FNDA),?(\d+)(,.*)?", line.replace("FNDA:", "FNDA,"))
            if found:
                out[name, found.group(1), found.group(3)] += int(found.group(2))
        return out
    first, second = (+lines(half) for half in halves("--coverage"))
    want = +lines(vpt("--coverage", "--from=0", *SELECT))
    check("lines of coverage", sorted((first | second).keys(), key=str), sorted(want, key=str))
    # The count of a line is that of its most frequent instruction, and need not add up.
    check("coverage", [], [key for key, n in want.items() if key[1] == "FNDA" and
                           n != first[key] + second[key] or n > first[key] + second[key] or
                           n < max(first[key], second[key])])


def compare(vcpu):
    concatenated(vcpu, random.choice(("--insn", "--blocks")), *random.choice(([], ["--time"])))
    jobs = random.choice(([], ["--jobs=2"]))
    calls(*random.choice(([], ["--time"], ["--spaces"])), *jobs)
    totals(*random.choice(([], ["--time"], ["--spaces"])), *jobs)
    coverage()


random.seed(FILE.rsplit("/", 1)[-1])
info = json.loads(vpt("--json")[0])
vcpus = len(json.loads(subprocess.run([VPT, "info", "--json", FILE], capture_output=True,
                                      text=True, check=True).stdout)["vcpus"])
whole = {(mode, i): vpt(mode, "--vcpu=%d" % i) for mode in ("--insn", "--blocks")
         for i in range(vcpus)}
ends = [[clock for clock, _ in clocks(whole["--insn", i])][-1] + 1 for i in range(vcpus)]
# Nanoseconds since the first known time, if the trace has them.
times = [json.loads(row).get("ns", 0) for row in vpt("--insn", "--time", "--json", "--limit=9999")]
times = [ns for ns in times if ns]
for _ in range(CUTS):
    vcpu = random.randrange(vcpus)
    a, b = sorted((random.randrange(ends[vcpu] + 3), random.randrange(ends[vcpu] + 3)))
    if random.random() < 0.5:
        b = a + random.randrange(40)
    if not SELECT:
        listing("--insn", vcpu, a, b)
        listing("--blocks", vcpu, a, b)
    PLACE = str(a)
    compare(vcpu)
    if times and not SELECT:
        PLACE = "%dns" % random.choice(times)
        done["times"] += 1
        compare(vcpu)
        # An edge that is a time is the same instruction in a listing and in a summary.
        words = ["--until=" + PLACE, "--vcpu=%d" % vcpu, "--json"]
        insns = sum('"insn":' in line for line in vpt("--insn", *words))
        check("the clock of a time", [json.loads(vpt(*words)[0])["insns"]], [insns])
    last = random.randrange(ends[vcpu])
    total = json.loads(vpt("--json", "--vcpu=%d" % vcpu)[0])["insns"]
    check("--last", vpt("--calls", *SELECT, "--vcpu=%d" % vcpu, "--last=%d" % last),
          vpt("--calls", *SELECT, "--vcpu=%d" % vcpu, "--from=%d" % (total - last)))
print(", ".join("%s: %d" % pair for pair in sorted(done.items())))
sys.exit(0 if SELECT or done["calls that are divided"] else 1)
