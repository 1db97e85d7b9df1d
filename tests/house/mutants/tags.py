#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Break each fact of shared/spec and see whether the tests that claim to prove it notice.

usage: tags.py [--only TAG] RECORDS BUILD

RECORDS is what .ci/proofs prints: who claims what. A test notices if it no longer records the
tag. Each file that claims a tag must notice one of its breaks: the next is tried until all have.
"""
import argparse
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from facts import Facts, rows
from ledger import Ledger
from operators import apply
from outside import Outside
from runner import run
from shadow import Shadow

ROOT = Path(__file__).resolve().parents[3]
TRIES = 40
CPU = 5  # seconds of processor time that one test may take
WAIT = 120  # seconds that all tests of a program may take, each of which is a process


def read(path):
    """{tag: {file: {program: {records}}}}"""
    claims = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    for line in Path(path).read_text().splitlines():
        tag, file, program, test, row = line.split("\t")
        claims[tag][file][program].add((test, row))
    return claims


class Breaker:
    def __init__(self, built, out):
        self.shadow = Shadow(ROOT, built, out, ["-O1", "-ftrivial-auto-var-init=zero"])
        self.shadow.prepare()
        self.outside = Outside(self.shadow)
        self.ledger = Ledger(out / "ledger", self.shadow.inputs)
        self.programs = {}
        self.proofs = out / "proofs"

    def original(self, name):
        """The program without a mutant of what is outside of the library."""
        if name not in self.programs:
            self.programs[name] = self.shadow.link_test(name, self.shadow.base)
        return self.programs[name]

    def program(self, name):
        return self.outside.program(name) or self.original(name)

    def records(self, name, library):
        """What a program records now: {tag: {file: {(test, row)}}}"""
        self.proofs.unlink(missing_ok=True)
        run(self.program(name), library, ROOT, CPU, {
            "TEST_PROOFS": str(self.proofs), "CK_FORK": "yes", "CK_TIMEOUT_MULTIPLIER": "20"},
            WAIT)
        return read(self.proofs) if self.proofs.exists() else {}

    def build(self, mutant, names, tests):
        """Build what these programs are made of. Returns whether anything differs."""
        text = apply((ROOT / mutant.file).read_text(), mutant)
        if mutant.file.startswith("vmm/"):
            return self.outside.replace(mutant.file, text, names)
        verdict = self.shadow.build(mutant.file, text)
        if verdict == "broken":
            return False
        if not self.outside.build(mutant, text, names, tests):
            return False
        return verdict == "built" or bool(self.outside.changed)

    def noticed(self, tag, mutant, files, tests):
        """The files of `files` ({file: {program: records}}) in which a test notices.

        With `tests`, the tests are built with the mutant as well."""
        key = f"{tag} {mutant.key} {tests} " + " ".join(sorted(files))
        names = {name for programs in files.values() for name in programs}
        for name in names:
            self.original(name)
        known = self.ledger.find(key, mutant.file, names)
        if known:
            return set(known["by"].split()), known["verdict"]
        if not self.build(mutant, names, tests):
            self.ledger.add(key, mutant.file, "same", names)
            return set(), "same"
        found, now = set(), {}
        for file, programs in files.items():
            for name, before in programs.items():
                if name not in now:
                    now[name] = self.records(name, self.shadow.work)
                after = now[name].get(tag, {}).get(file, {}).get(name, set())
                if before - after:
                    found.add(file)
        self.ledger.add(key, mutant.file, "built", names, " ".join(sorted(found)))
        return found, "built"


def judge(breaker, tag, candidates, files):
    """Returns ([(mutant, files that noticed)], files that did not)."""
    left, used, tries = dict(files), [], 0
    for mutant in candidates:
        if not left or tries == TRIES:
            break
        for tests in (False, True) if mutant.file.endswith(".def") else (True,):
            if not left:
                break
            found, verdict = breaker.noticed(tag, mutant, left, tests)
            tries += verdict == "built"
            if found:
                used.append((mutant, found))
                left = {f: p for f, p in left.items() if f not in found}
    return used, left


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("records")
    parser.add_argument("build")
    args = parser.parse_args()
    out = ROOT / "build/mutants/tags"
    out.mkdir(parents=True, exist_ok=True)
    claims, facts = read(args.records), Facts(ROOT)
    breaker = Breaker(args.build, out)
    passed = failed = 0
    for tag in dict.fromkeys(row[0] for row in rows(ROOT)):
        if args.only and not tag.startswith(args.only):
            continue
        used, left = judge(breaker, tag, facts.breaks[tag], claims[tag])
        good = used and not left
        passed, failed = passed + bool(good), failed + (not good)
        print(f"{'ok' if good else 'FAILED':7}{tag}", flush=True)
        for mutant, files in used:
            print(f"       {mutant.file}: {mutant.after[:90]}: {' '.join(sorted(files))}")
        for file in left:
            print(f"       not noticed by {file} ({len(facts.breaks[tag])} breaks)")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
