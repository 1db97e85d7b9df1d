#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge a seeded sample of the mutants of shared/src and of the inline code of shared/include.

usage: mutants.py [--seed SEED] [--count N] [--only FILE] BUILD

BUILD has the unit tests, as `make unit-build` leaves them. The environment has CC, LIBS and the
flags. Exits 0 if the tests kill enough of the mutants that are not equivalent.
"""
import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import coverage
import equivalents
from judge import Judge
from ledger import Ledger
from operators import mutants
from outside import Outside
from runner import run
from shadow import Shadow, fingerprint

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
KILLED = 97  # percent of those that are not equivalent, at least
# Tests that need KVM, or options of the linker.
OTHERS = ("test_kvm", "test_vptdecode_memory")
EQUIVALENT = 12  # percent of the sample, at most


def population(only):
    found = []
    for pattern in ("shared/src/*.[ch]", "shared/include/vpt/*.h"):
        for path in sorted(ROOT.glob(pattern)):
            name = str(path.relative_to(ROOT))
            if only in name:
                found += mutants(name, path.read_text(), "/include/" not in name)
    return found


def shuffled(found, seed):
    """The seed's order: it moves little when the sources do."""
    return sorted(found, key=lambda m: hashlib.sha256((seed + m.key).encode()).digest())


def commit():
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout[:12]


class Cache:
    """Values by program, in a file: one is made anew if what it depends on has changed."""

    def __init__(self, path, states):
        self.path, self.states = path, states
        self.kept = json.loads(path.read_text()) if path.exists() else {}

    def fill(self, make):
        """Return {name: value}. A value of None is not kept."""
        values = {}
        for name, state in self.states.items():
            entry = self.kept.get(name)
            if not isinstance(entry, dict) or entry["state"] != state:
                entry = {"state": state, "value": make(name)}
                self.kept[name] = entry
                self.path.write_text(json.dumps(self.kept))
            if entry["value"] is not None:
                values[name] = entry["value"]
        return values


def prepare(built, out):
    """Returns a Judge with everything built, timed and measured."""
    shadow = Shadow(ROOT, built, out)
    shadow.prepare()
    folder = out / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    names = [p.stem for p in sorted((ROOT / "tests/unit").glob("test_*.c")) if p.stem not in OTHERS]
    programs = {name: shadow.link_test(name, folder) for name in names}

    def time_one(name):
        verdict, seconds = run(programs[name], shadow.base, ROOT, 600)
        if verdict == "passed":
            return seconds
        print(f"{name}: {verdict} without a mutant: left out", flush=True)
        return None

    states = {name: shadow.inputs.program(name) for name in names}
    seconds = Cache(out / "seconds", states).fill(time_one)

    library = fingerprint(ROOT, ["shared"])
    states = {name: library + states[name] for name in seconds}
    counted = coverage.Coverage(ROOT, built, out / "coverage")
    covered = Cache(out / "lines", states).fill(lambda name: counted.measure(programs[name]))
    return Judge(shadow, Outside(shadow), {name: programs[name] for name in seconds}, seconds,
                 covered, Ledger(out / "ledger", shadow.inputs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--only", default="")
    parser.add_argument("build")
    args = parser.parse_args()
    seed = args.seed or commit()
    out = ROOT / "build/mutants"
    out.mkdir(parents=True, exist_ok=True)
    known = equivalents.read(HERE / "equivalent")
    found = population(args.only)
    print(f"seed {seed}: {args.count} of {len(found)} mutants", flush=True)
    judge = prepare(args.build, out)
    report(sample(judge, shuffled(found, seed), args.count, known), known)


def sample(judge, order, count, known):
    """Yield (mutant, verdict) of the first so many that compile and differ."""
    n = 0
    for mutant in order:
        if n == count:
            return
        entry = judge.judge(mutant)
        if entry["verdict"] in ("broken", "same"):
            continue
        n += 1
        verdict = entry["verdict"]
        if mutant.key in known:
            verdict = "equivalent" if verdict == "survived" else "not equivalent"
        if verdict not in ("killed", "timeout"):
            print(f"[{n}] {verdict}: {mutant.operator}: {mutant.key}", flush=True)
        yield mutant, verdict


def report(results, known):
    count, table = {}, {}
    for mutant, verdict in results:
        count[verdict] = count.get(verdict, 0) + 1
        row = table.setdefault(mutant.file, {})
        row[verdict] = row.get(verdict, 0) + 1
    columns = ("killed", "timeout", "equivalent", "survived", "not equivalent")
    print(f"{'':32}" + "".join(f"{c:>15}" for c in columns))
    for file in sorted(table):
        print(f"{file:32}" + "".join(f"{table[file].get(c, 0) or '':>15}" for c in columns))
    total = sum(count.values())
    killed = count.get("killed", 0) + count.get("timeout", 0)
    equivalent = count.get("equivalent", 0)
    survived = count.get("survived", 0)
    wrong = count.get("not equivalent", 0)
    judged = total - equivalent
    print(f"{total} mutants, {equivalent} equivalent ({100 * equivalent / total:.1f} %, at most "
          f"{EQUIVALENT} %); {100 * killed / judged:.1f} % of the others killed (at least "
          f"{KILLED} %)")
    print(f"{total - survived - wrong} passed, {survived + wrong} failed")
    good = 100 * killed >= KILLED * judged and 100 * equivalent <= EQUIVALENT * total and not wrong
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
