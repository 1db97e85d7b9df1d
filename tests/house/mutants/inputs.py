# SPDX-License-Identifier: GPL-2.0-or-later
"""What each test program is made of, and a hash of it: a verdict holds while that stays the same."""
import hashlib
import re
from collections import defaultdict
from pathlib import Path

MEMBER = re.compile(r"\(.*?(libtest|libvmm)\.a\)(\w+)\.o")
PARTS = {"libtest": ("tests/lib",), "libvmm": ("vmm",)}


class Inputs:
    def __init__(self, root, built):
        self.root, self.built = Path(root), Path(built)
        self.linked = {}  # program: {(archive, stem)}
        self.hashes = {}  # path: hash of the file
        self.programs = {}  # program: hash of what it is made of
        self.objects = defaultdict(list)  # (archive, stem): objects; a stem need not be unique
        for archive, folders in PARTS.items():
            for folder in folders:
                for path in (self.built / folder).rglob("*.o"):
                    # BUILD may have objects of sources that are gone.
                    if (self.root / path.relative_to(self.built)).with_suffix(".c").exists():
                        self.objects[archive, path.stem].append(path)

    def note(self, name, trace):
        """Keep the archive members that ld -t -t named as it linked a program."""
        self.linked[name] = set(MEMBER.findall(trace))

    def contains(self, name, source):
        """Is an object of this source part of the program?"""
        part = str(source.relative_to(self.root))
        if part.startswith("tests/unit/"):
            return source.stem == name
        archive = "libtest" if part.startswith("tests/") else "libvmm"
        return (archive, source.stem) in self.linked[name]

    def hash(self, path):
        if path not in self.hashes:
            self.hashes[path] = hashlib.sha256(path.read_bytes()).hexdigest()
        return self.hashes[path]

    def sources(self, name):
        """The files that a program is compiled from, but for those of shared/."""
        objects = [self.built / f"tests/unit/{name}.o", self.built / "tests/lib/main.o"]
        for member in self.linked[name]:
            objects += self.objects[member]
        found = set()
        for path in objects:
            text = path.with_suffix(".d").read_text().split("\n\n")[0].replace("\\\n", " ")
            for word in text.split(":", 1)[1].split():
                if word.endswith(":"):
                    break
                if not word.startswith(("shared/", "/")):  # nor for those of the system
                    found.add(self.root / word)
        return found

    def program(self, name):
        if name not in self.programs:
            digest = hashlib.sha256()
            for path in sorted(self.sources(name)):
                digest.update(f"{path.relative_to(self.root)} {self.hash(path)}\n".encode())
            self.programs[name] = digest.hexdigest()
        return self.programs[name]

    def state(self, file, names):
        """A hash of a mutated file and of the programs whose verdict it is."""
        digest = hashlib.sha256(self.hash(self.root / file).encode())
        for name in sorted(names):
            digest.update(f"{name} {self.program(name)}\n".encode())
        return digest.hexdigest()[:16]
