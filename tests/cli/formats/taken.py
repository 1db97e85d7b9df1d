# SPDX-License-Identifier: GPL-2.0-or-later
# Compares counts of taken branches, and of ranges between them, with those of a listing.
import collections
import sys


def compare(listing, branches, ranges):
    """@ranges has (first, last), or (first, last, is it reached by a branch)."""
    listed = collections.Counter(), collections.Counter()
    for (ip, to, kind), n in listing.edges.items():
        if kind not in ("not taken", "event"):
            listed[0][ip, to] += n
    width = len(next(iter(ranges)))
    for key, n in listing.ranges.items():
        listed[1][key[:width]] += n
    wrong = 0
    for what, exported, right in ("branch", branches, listed[0]), ("range", ranges, listed[1]):
        for key in sorted(set(exported) | set(right)):
            if exported[key] != right[key]:
                wrong += 1
                if wrong <= 5:
                    print(what, [hex(k) for k in key], "exported:", exported[key], "listed:", right[key])
    print("branches: %d, ranges: %d" % (sum(branches.values()), sum(ranges.values())))
    sys.exit(1 if wrong or not branches or not ranges else 0)
