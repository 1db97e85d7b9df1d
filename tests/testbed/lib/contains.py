#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prove that the lines of one file, all of the same length, follow each other in another one.

usage: contains.py WHOLE PART

Prints "instructions N" and "mismatches N".
"""
import sys

# So many lines find the place. They must occur once.
KEY = 4096

with open(sys.argv[1], "rb") as file:
    whole = file.read()
with open(sys.argv[2], "rb") as file:
    part = file.read()
line = part.index(b"\n") + 1
count = len(part) // line
if count < 2 * KEY or len(part) % line or len(whole) % line:
    sys.exit(f"contains: {count} lines, or they differ in length")
# The first lines may occur twice where all of the part occurs once.
key = part if part in whole else part[: KEY * line]
at = whole.find(key)
while at >= 0 and at % line:
    at = whole.find(key, at + 1)
if at < 0:
    sys.exit("contains: the first lines do not occur")
if whole.find(key, at + 1) >= 0:
    sys.exit("contains: the first lines occur more than once")
other = whole[at : at + len(part)]
wrong = sum(part[i : i + line] != other[i : i + line] for i in range(0, len(part), line)) if part != other else 0
print("instructions", count)
print("mismatches", wrong)
sys.exit(wrong != 0)
