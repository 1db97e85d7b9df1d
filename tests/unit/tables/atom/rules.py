#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""List the rules of Atom's RTIT with the tests that proved them.

usage: .ci/spec-map PROOFS | rules.py PROOFS

PROOFS is the output of .ci/proofs. A line of the list has the tag, the section, the rule, the
tests and the rows of tables, with tabs between them. "-" stands for no test and for no row.
"""
import sys


def read_proofs(path):
    """Two dictionaries of tags: the tests, and the rows of test_atom_tables, in order."""
    tests, rows = {}, {}
    for line in open(path, encoding="latin-1"):
        tag, _, program, test = line.rstrip("\n").split("\t")[:4]
        if program == "test_atom_tables":
            rows.setdefault(tag, {})[test] = True
        else:
            tests.setdefault(tag, {})[f"{program}:{test}"] = True
    return tests, rows


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: rules.py PROOFS")
    sys.stdin.reconfigure(encoding="latin-1")
    sys.stdout.reconfigure(encoding="latin-1")
    tests, rows = read_proofs(sys.argv[1])
    for line in sys.stdin:
        if line.startswith("| ATOM-"):
            tag, section, rule = line[2:].split(" | ")[:3]
            print(tag, section, rule, ", ".join(tests.get(tag, "-")), ", ".join(rows.get(tag, "-")),
                  sep="\t")


main()
