# SPDX-License-Identifier: GPL-2.0-or-later
# usage: bolt.py LISTING FILE    Compares the counts of a profile for perf2bolt with those of a listing.
import collections
import sys

from listing import Listing
from taken import compare

listing = Listing(sys.argv[1])
branches, ranges = collections.Counter(), collections.Counter()
with open(sys.argv[2], encoding="ascii") as lines:
    for line in lines:
        kind, a, b, count, *missed = line.split()
        if missed != (["0"] if kind == "B" else []):
            sys.exit("not a line of a profile: " + line)
        if kind == "B":
            branches[int(a, 16), int(b, 16)] += int(count)
        else:
            ranges[int(a, 16), int(b, 16), {"F": True, "f": False}[kind]] += int(count)
compare(listing, branches, ranges)
