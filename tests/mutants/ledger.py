# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on mutants, one line each, appended as they are reached: a run can be resumed."""
import hashlib
import json


class Ledger:
    def __init__(self, path, state):
        """`state` is a fingerprint of all sources: a verdict holds for the same sources only."""
        self.path, self.state = path, state
        self.verdicts = {}  # of this state, by content
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
        if entry["by"]:
            self.killers[entry["mutant"]] = entry["by"]
            pair = entry["file"], entry["by"]
            self.kills[pair] = self.kills.get(pair, 0) + 1
        if entry["state"] == self.state:
            self.verdicts[entry["mutant"]] = entry

    @staticmethod
    def name(key):
        return hashlib.sha256(key.encode()).hexdigest()[:16]

    def add(self, key, file, verdict, by=""):
        entry = {"mutant": self.name(key), "file": file, "verdict": verdict, "by": by,
                 "state": self.state}
        line = json.dumps(entry)
        with self.path.open("a") as out:
            out.write(line + "\n")
        self.take(line)
        return entry

    def find(self, key):
        return self.verdicts.get(self.name(key))

    def killer(self, key):
        return self.killers.get(self.name(key))
