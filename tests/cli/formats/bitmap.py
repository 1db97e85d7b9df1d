# SPDX-License-Identifier: GPL-2.0-or-later
# usage: bitmap.py LISTING BITMAP    Compares a bitmap with the formula in vpt-export(1).
import sys

from listing import Listing


def h(ip):
    return (ip >> 4 ^ ip << 8) & 0xffff


expected = bytearray(65536)
before = 0
for first, last, end, known in Listing(sys.argv[1]).blocks:
    i = h(first) ^ (before if known else 0)
    expected[i] = min(expected[i] + 1, 255)
    before = h(first) >> 1
bitmap = open(sys.argv[2], "rb").read()
wrong = [i for i in range(65536) if bitmap[i:i + 1] != expected[i:i + 1]]
print("bytes: %d, wrong: %d" % (sum(b != 0 for b in bitmap), len(wrong)), wrong[:5])
sys.exit(1 if wrong or len(bitmap) != 65536 or not any(bitmap) else 0)
