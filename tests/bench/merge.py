#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Put the rows of one file of results into another, in place of rows with the same names.

usage: merge.py ROWS.json INTO.json    INTO.json need not exist
"""
import json
import os
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: merge.py ROWS.json INTO.json")
    rows, into = sys.argv[1:]
    new = json.load(open(rows))
    names = {row["name"] for row in new}
    old = json.load(open(into)) if os.path.exists(into) else []
    lines = ",\n  ".join(json.dumps(row) for row in
                         [row for row in old if row["name"] not in names] + new)
    with open(into + ".part", "w") as file:
        file.write(f"[\n  {lines}\n]\n")
    os.replace(into + ".part", into)


main()
