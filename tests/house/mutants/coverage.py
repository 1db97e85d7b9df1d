# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines and functions of shared/ each test program executes."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from runner import run
from shadow import Shadow

SECONDS = 600  # that one program may take


def parse(text):
    """{file: {"lines": [...], "functions": [...]}} of what gcov found executed."""
    found = {}
    for line in text.splitlines():
        for unit in json.loads(line)["files"]:
            file = os.path.normpath(unit["file"])
            entry = found.setdefault(file, {"lines": set(), "functions": set()})
            entry["lines"] |= {x["line_number"] for x in unit["lines"] if x["count"]}
            entry["functions"] |= {
                x["name"] for x in unit["functions"] if x["execution_count"]}
    return {file: {k: sorted(v) for k, v in entry.items()} for file, entry in found.items()}


class Coverage:
    """An instrumented library, built when the first program is measured."""

    def __init__(self, root, built, out):
        self.shadow = Shadow(root, built, out, ["-O0", "--coverage"])
        self.ready = False

    def measure(self, program):
        """Run a program on the instrumented library. Returns parse()."""
        shadow = self.shadow
        if not self.ready:
            shadow.prepare()
            self.ready = True
        counts = shadow.base / "counts"
        shutil.rmtree(counts, ignore_errors=True)
        verdict, _ = run(program, shadow.base, shadow.root, SECONDS, {
            "GCOV_PREFIX": str(counts.resolve())})
        if verdict != "passed":
            raise RuntimeError(f"{program.name} {verdict} without a mutant")
        folder = Path(str(counts.resolve()) + str(shadow.base.resolve()))
        for notes in shadow.base.glob("*.gcno"):
            if folder.exists():
                shutil.copy(notes, folder)
        files = sorted(str(p) for p in folder.glob("*.gcda"))
        text = ""
        if files:
            text = subprocess.run(["gcov", "--json-format", "--stdout", *files], cwd=folder,
                                  capture_output=True, text=True, check=True).stdout
        return parse(text)
