#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge the ledger of against.sh.

usage: verdict.py ROWS LEDGER BASE ROUNDS OUT

A line of LEDGER has the row, the round, the side and microseconds. A side is base, new or
again. On the side "times" the number says how often one measurement runs the command.
Print a table, write the same rows to the JSON file OUT, and exit with 1 if a row is slower.
"""
import json
import sys

LEAST = 0.02  # a smaller difference is noise


def read(path):
    return [line.rstrip("\n").split("\t") for line in open(path) if not line.startswith("#")]


def minima(ledger, rounds):
    """The shortest time of each row and side, for one run of the command."""
    times, best = {}, {}
    for row, number, side, value in ledger:
        if side == "times":
            times[row] = int(value)
        elif int(number) <= rounds:
            best[row, side] = min(float(value), best.get((row, side), float("inf")))
    return {key: value / times[key[0]] for key, value in best.items()}


def judge(row, best):
    base, again, new = (best[row, side] for side in ("base", "again", "new"))
    mean = (base + again) / 2
    ratio, spread = new / mean, abs(base - again) / mean
    verdict = "slower" if ratio > 1 + max(2 * spread, LEAST) else "ok"
    print(f"{row:<40} {mean:9.1f} us {new:9.1f} us {ratio:7.3f} {spread * 100:6.2f}%  {verdict}")
    return {"row": row, "base_us": round(base, 2), "again_us": round(again, 2),
            "new_us": round(new, 2), "ratio": round(ratio, 4), "spread": round(spread, 4),
            "verdict": verdict}


def main():
    if len(sys.argv) != 6:
        sys.exit("usage: verdict.py ROWS LEDGER BASE ROUNDS OUT")
    rows, ledger, commit, rounds, out = sys.argv[1:]
    best = minima(read(ledger), int(rounds))
    print(f"{'row':<40} {'base':>12} {'new':>12} {'ratio':>7} {'A/A':>7}  verdict")
    judged = [judge(row[0], best) for row in read(rows) if (row[0], "again") in best]
    with open(out, "w") as file:
        lines = ",\n  ".join(json.dumps(row) for row in judged)
        file.write(f'{{"base": "{commit}", "rounds": {rounds}, "rows": [\n  {lines}\n]}}\n')
    failed = sum(row["verdict"] != "ok" for row in judged)
    print(f"{len(judged) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
