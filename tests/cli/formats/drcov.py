# SPDX-License-Identifier: GPL-2.0-or-later
# usage: drcov.py LISTING DRCOV    Compares the blocks of an export with those of a listing.
# Reads the file by the format that drcov.c of DynamoRIO writes, and nothing else.
import re
import struct
import sys

from listing import Listing

data = open(sys.argv[2], "rb").read()


def line():
    global data
    first, data = data.split(b"\n", 1)
    return first.decode("ascii")


assert line() == "DRCOV VERSION: 2"
assert line().startswith("DRCOV FLAVOR: ")
count = int(re.fullmatch(r"Module Table: version 4, count (\d+)", line()).group(1))
assert line() == "Columns: id, containing_id, start, end, entry, offset, path"
modules = []
for i in range(count):
    fields = [f.strip() for f in line().split(",", 6)]
    assert int(fields[0]) == i and fields[6]
    modules.append((int(fields[2], 16), int(fields[3], 16)))
bbs = int(re.fullmatch(r"BB Table: (\d+) bbs", line()).group(1))
assert len(data) == 8 * bbs, "the table has %d bytes for %d blocks" % (len(data), bbs)
blocks = []
for start, size, module in struct.iter_unpack("<IHH", data):
    low, high = modules[module]
    assert low + start + size <= high
    blocks.append((low + start, low + start + size))
listed = {(first, end) for first, _, end, _ in Listing(sys.argv[1]).blocks}
# A block can be in several address spaces.
wrong = set(blocks) ^ listed
for first, end in sorted(wrong)[:5]:
    print("0x%x to 0x%x" % (first, end), "exported" if (first, end) in blocks else "listed")
print("blocks: %d" % len(set(blocks)))
sys.exit(1 if wrong or not blocks else 0)
