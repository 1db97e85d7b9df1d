# SPDX-License-Identifier: GPL-2.0-or-later
"""Users of the inline functions of shared/include outside of libvpt: vmm/ and the tests.

A mutant of an inline function is compiled into each of them. Only the objects that come out
different are linked, into the tests that need them.
"""
import re
import subprocess
from pathlib import Path

from shadow import words

INLINE = re.compile(r"^static (?:inline|VPT_ALWAYS_INLINE) [^;{]*?\b(\w+)\([^;{]*\)\n\{(.*?)\n\}",
                    re.MULTILINE | re.DOTALL)
FOLDERS = ("vmm", "tests/lib", "tests/unit")


class Outside:
    def __init__(self, shadow):
        self.shadow = shadow
        self.base, self.work = shadow.out / "outside/base", shadow.out / "outside/work"
        self.clear()
        self.originals = {}  # source: its object without a mutant
        self.flags = [*words("VMM_CFLAGS"), "-O1", "-DNDEBUG", "-w", f"-I{shadow.tree}/shared/include",
                      "-Ivmm", "-Itests"]
        self.sources = {
            p: p.read_text() for folder in FOLDERS for p in Path(shadow.root, folder).rglob("*.c")}
        headers = [p for folder in ("shared/include", *FOLDERS)
                   for p in Path(shadow.root, folder).rglob("*.h")]
        self.inlines = [m for p in headers for m in INLINE.findall(p.read_text())]

    def clear(self):
        self.changed = {}  # source: object, of the mutant at hand
        self.linked = {}  # program: file, linked with those objects

    def original(self, source):
        if source not in self.originals:
            self.originals[source] = self.compile(source, self.base).read_bytes()
        return self.originals[source]

    def names(self, function):
        """The function and all inline functions that call it."""
        found = {function}
        while True:
            more = {name for name, body in self.inlines
                    if name not in found and found & set(re.findall(r"\w+", body))}
            if not more:
                return found
            found |= more

    def row_pattern(self, mutant):
        """What a file that uses a row holds: its name, an inline function that does, or all rows."""
        macro, _, fields = mutant.before.partition("(")
        words = re.findall(r"[A-Za-z]\w*", fields)
        # A field's name follows that of its register.
        word = words[1 if macro == "VPT_ATOM_FIELD" else 0]
        name = rf"(?:\b|_){word}(?:\b|_)"
        functions = [n for n, body in self.inlines if re.search(name, body)]
        functions = sorted(set().union(*map(self.names, functions)))
        return re.compile("|".join([name, re.escape(Path(mutant.file).name),
                                    *(rf"\b{n}\b" for n in functions)]))

    def users(self, mutant, tests):
        if mutant.file.endswith(".def"):
            uses = self.row_pattern(mutant)
            return [p for p, text in self.sources.items() if uses.search(text)
                    and (tests or "tests" not in p.relative_to(self.shadow.root).parts)]
        if not mutant.file.startswith("shared/include/"):
            return []
        names = self.names(mutant.function)
        return [p for p, text in self.sources.items() if names & set(re.findall(r"\w+", text))]

    def compile(self, source, folder, text=None):
        """Compile a file of the tree, or the text as if it were that file."""
        source = source.relative_to(self.shadow.root)
        target = folder / "_".join(source.with_suffix(".o").parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (self.shadow.root / source).read_text() if text is None else text
        subprocess.run([*self.shadow.cc, *self.flags, f"-iquote{source.parent}", "-xc", "-c", "-o",
                        str(target), "-"], input=f'#line 1 "{source}"\n{text}', text=True,
                       cwd=self.shadow.root, check=True, capture_output=True)
        return target

    def build(self, mutant, text, programs=(), tests=True):
        """Compile the users with the mutant; self.changed is what differs.

        With `programs`, only the users that are part of one of these. Without `tests`, a test
        keeps the numbers that a row of shared/spec had. Returns False if a user does not compile."""
        self.clear()
        users = self.users(mutant, tests)
        if programs:
            inputs = self.shadow.inputs
            users = [u for u in users if any(inputs.contains(p, u) for p in programs)]
        if not users:
            return True
        old = {source: self.original(source) for source in users}
        self.shadow.write(mutant.file, text)
        try:
            for source in users:
                new = self.compile(source, self.work)
                if new.read_bytes() != old[source]:
                    self.changed[source] = new
        except subprocess.CalledProcessError:
            self.changed = {}
            return False
        finally:
            self.shadow.restore(mutant.file)
        return True

    def replace(self, file, text, programs):
        """Compile a file of vmm/ with the text in place of its own.

        Returns whether it differs, and is part of one of the programs.

        A header of vmm/ is not handled: nothing differs."""
        self.clear()
        source = self.shadow.root / file
        contains = self.shadow.inputs.contains
        if source.suffix != ".c" or not any(contains(name, source) for name in programs):
            return False
        old = self.original(source)
        try:
            new = self.compile(source, self.work, text)
        except subprocess.CalledProcessError:
            return False
        if new.read_bytes() == old:
            return False
        self.shadow.link(self.shadow.work, {})
        self.changed[source] = new
        return True

    def reaches(self, name):
        """Is anything that differs part of the program?"""
        return any(self.shadow.inputs.contains(name, source) for source in self.changed)

    def program(self, name):
        """Link a test with what differs. Returns None if it has nothing to do with that."""
        if not self.changed:
            return None
        if name not in self.linked and not self.reaches(name):
            return None
        if name not in self.linked:
            unit = self.shadow.root / f"tests/unit/{name}.c"
            replaced = [o for s, o in self.changed.items()
                        if "tests/unit" not in str(s) and self.shadow.inputs.contains(name, s)]
            self.linked[name] = self.shadow.link_test(
                name, self.work, replaced, self.changed.get(unit))
        return self.linked[name]
