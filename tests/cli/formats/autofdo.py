# SPDX-License-Identifier: GPL-2.0-or-later
# usage: autofdo.py LISTING FILE BASE    Compares the counts of a profile for AutoFDO with those of a listing.
import collections
import re
import sys

from listing import Listing
from taken import compare


def read(lines, between):
    counts = collections.Counter()
    for _ in range(int(next(lines))):
        a, b, count = re.fullmatch("([0-9a-f]+)%s([0-9a-f]+):([0-9]+)\n" % between, next(lines)).groups()
        if (int(a, 16), int(b, 16)) in counts:
            sys.exit("a pair is there twice: %s, %s" % (a, b))
        counts[int(a, 16), int(b, 16)] = int(count)
    return counts


listing = Listing(sys.argv[1])
with open(sys.argv[2], encoding="ascii") as lines:
    ranges = read(lines, "-")
    if next(lines) != "0\n":
        sys.exit("samples of addresses")
    branches = read(lines, "->")
    if next(lines, None) is not None:
        sys.exit("lines behind the end")
base = int(sys.argv[3], 16)
compare(
    listing,
    collections.Counter({(a + base, b + base): n for (a, b), n in branches.items()}),
    collections.Counter({(a + base, b + base): n for (a, b), n in ranges.items()}),
)
