# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP for the scripts of this folder: the rows, and how many there were."""

number = 0


def test(good, name, why=""):
    global number
    number += 1
    print("%sok %d - %s" % ("" if good else "not ", number, name), flush=True)
    if not good:
        print("# %s" % (why,))
