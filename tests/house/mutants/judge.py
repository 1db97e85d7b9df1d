# SPDX-License-Identifier: GPL-2.0-or-later
"""Build a mutant and run the tests that execute its code until one fails."""
from operators import apply
from runner import run

SLACK = 5  # a mutant may take so many times as long as the original
LEAST = 3  # seconds of processor time


class Judge:
    def __init__(self, shadow, outside, programs, seconds, covered, ledger):
        self.shadow, self.outside = shadow, outside
        self.programs, self.seconds = programs, seconds
        self.covered, self.ledger = covered, ledger
        self.texts = {}

    def text(self, file):
        if file not in self.texts:
            self.texts[file] = (self.shadow.root / file).read_text()
        return self.texts[file]

    def order(self, mutant, key):
        """Names of the tests that could notice the mutant, the most promising first."""
        line = self.text(mutant.file).count("\n", 0, mutant.start) + 1
        here, function, elsewhere = [], [], []
        known = any(mutant.function in cov.get(mutant.file, {"functions": []})["functions"]
                    for cov in self.covered.values())
        for name in self.programs:
            cov = self.covered[name].get(mutant.file, {"lines": [], "functions": []})
            if line in cov["lines"]:
                here.append(name)
            elif mutant.function in cov["functions"]:
                function.append(name)
            elif not known or self.outside.reaches(name):
                elsewhere.append(name)

        def cost(name):
            return self.seconds[name] / (1 + self.ledger.kills.get((mutant.file, name), 0))

        names = [n for group in (here, function, elsewhere) for n in sorted(group, key=cost)]
        first = self.ledger.killer(key)
        if first in names:
            names.remove(first)
            names.insert(0, first)
        return names

    def judge(self, mutant):
        """Returns the ledger's entry: "broken", "same", "killed", "timeout" or "survived"."""
        key = mutant.key
        self.outside.clear()
        known = self.ledger.find(key, mutant.file, self.order(mutant, key))
        if known:
            return known
        text = apply(self.text(mutant.file), mutant)
        verdict = self.shadow.build(mutant.file, text)
        if verdict != "broken":
            self.outside.build(mutant, text)
            if verdict == "same" and self.outside.changed:
                verdict = "built"
        if verdict != "built":
            return self.ledger.add(key, mutant.file, verdict, [])
        names = self.order(mutant, key)
        for name in names:
            program = self.outside.program(name) or self.programs[name]
            limit = max(LEAST, SLACK * self.seconds[name])
            result, _ = run(program, self.shadow.work, self.shadow.root, limit)
            if result != "passed":
                verdict = "killed" if result == "failed" else "timeout"
                return self.ledger.add(key, mutant.file, verdict, [name], name)
        return self.ledger.add(key, mutant.file, "survived", names)
