# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on mutants, one line each, appended as they are reached: a run can be resumed."""
import hashlib
import json


class Ledger:
    """A verdict holds as long as the mutated file and the tests that it is of do not change."""

    def __init__(self, path, inputs):
        self.path, self.inputs = path, inputs
        self.verdicts = {}  # the last one of each mutant
        self.killers = {}  # of any state: the test that killed the same mutant
        self.kills = {}  # (file, test): how many mutants it killed
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            for line in path.read_text().splitlines():
                self.take(line)

    def take(self, line):
        try:
            entry = json.loads(line)
        except ValueError:
            return  # A run that was killed left half a line.
        if "names" not in entry:
            return
        if entry["by"]:
            self.killers[entry["mutant"]] = entry["by"]
            pair = entry["file"], entry["by"]
            self.kills[pair] = self.kills.get(pair, 0) + 1
        self.verdicts[entry["mutant"]] = entry

    @staticmethod
    def name(key):
        return hashlib.sha256(key.encode()).hexdigest()[:16]

    def add(self, key, file, verdict, names, by=""):
        """Keep a verdict; `names` are the programs that it was reached with."""
        entry = {"mutant": self.name(key), "file": file, "verdict": verdict, "by": by,
                 "names": sorted(names), "state": self.inputs.state(file, names)}
        line = json.dumps(entry)
        with self.path.open("a") as out:
            out.write(line + "\n")
        self.take(line)
        return entry

    def find(self, key, file, names):
        """The verdict on a mutant, if it still holds; `names` are the programs to be asked now."""
        entry = self.verdicts.get(self.name(key))
        if not entry:
            return None
        # One test that fails is enough. That a test does not notice says nothing of the others.
        if entry["verdict"] in ("survived", "built") and not set(names) <= set(entry["names"]):
            return None
        return entry if entry["state"] == self.inputs.state(file, entry["names"]) else None

    def killer(self, key):
        return self.killers.get(self.name(key))
