# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the source lines in a page of vpt report with the files.

usage: report_source.py PAGE [NAME:WHY]...
Each row with a line has its text, or its file has a reason. NAME is the end of a file's name, and WHY the reason.
"""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    data = json.loads(re.search(r'id="data">\n(.*?)\n</script>', f.read(), re.S)[1])
files = data["source"]
names = [f["name"] for f in files]
assert len(names) == len(set(names))
used = [set() for _ in files]
for code in data["code"]:
    src = None
    for row in code["rows"]:
        src = row.get("src", src)
        if "line" in row:
            used[src].add(row["line"])
        if "file" in row:
            assert names[src].split("/")[-1] == row["file"], (names[src], row)


def text(line):
    """A line as the page has it: at most 240 bytes of whole characters."""
    line = line.removesuffix(b"\r")
    if len(line) <= 240:
        return line
    return line[:240].decode("utf-8", "ignore").encode() + "…".encode()


texts = 0
for source, lines in zip(files, used):
    got = {int(n): t.encode("latin-1") for n, t in source["lines"].items()}
    if "why" not in source:
        assert set(got) == lines - {0}, (source["name"], set(got) ^ lines)
    assert set(got) <= lines
    if got:
        with open(source["name"], "rb") as f:
            all_lines = f.read().split(b"\n")
        for n, t in got.items():
            assert t == text(all_lines[n - 1]), (source["name"], n, t)
        texts += len(got)
print("%d files, %d lines" % (len(files), texts))
whys = {source["name"]: source.get("why") for source in files}
for what in sys.argv[2:]:
    name, why = what.split(":", 1)
    found = [w for n, w in whys.items() if n.endswith(name)]
    assert found and all((w or "").startswith(why) and (w or "") >= why for w in found), (what, whys)
    if not why:
        assert found == [None], (what, whys)
if not sys.argv[2:]:
    assert texts and not any(whys.values()), whys
