# SPDX-License-Identifier: GPL-2.0-or-later
"""A copy of shared/ in which mutants are compiled, and libvpt as a shared object out of it.

The source tree is never written to. Test programs are linked once, against libvpt.so: a mutant
needs one compilation of what changed and one link of the library.
"""
import hashlib
import os
import shlex
import shutil
import subprocess
from pathlib import Path

from inputs import Inputs

# What no compiler would pass is no mutant.
STRICT = (
    "-Werror=return-type -Werror=incompatible-pointer-types -Werror=int-conversion "
    "-Werror=implicit-function-declaration"
).split()


# A variable that is not initialized has a pattern: a deleted assignment is not undone by luck.
PATTERN = "-ftrivial-auto-var-init=pattern"


def words(name, default=""):
    return shlex.split(os.environ.get(name, default))


class Shadow:
    def __init__(self, root, built, out, mode=("-O2", PATTERN)):
        self.root, self.built, self.out = Path(root), Path(built), Path(out)
        self.tree = self.out / "tree"
        self.base = self.out / "base"
        self.work = self.out / "work"
        # What is compiled here is compiled once: a cache would only cost time.
        self.cc = [word for word in words("CC", "gcc") if Path(word).name != "ccache"]
        self.mode = mode
        self.inputs = Inputs(root, built)
        self.flags = [*mode, "-DNDEBUG", "-fPIC", "-fno-semantic-interposition", *STRICT,
                      *words("SHARED_CFLAGS"), "-Ishared/include"]
        self.libs = words("LIBS")
        self.sources = []
        self.depends = {}  # source: the files that it includes

    def prepare(self):
        """Copy shared/, compile all of it and link libvpt.so."""
        shutil.rmtree(self.tree, ignore_errors=True)
        shutil.copytree(self.root / "shared", self.tree / "shared")
        for folder in (self.base, self.work):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self.sources = sorted(
            str(p.relative_to(self.tree)) for p in (self.tree / "shared/src").glob("*.c"))
        for source in self.sources:
            error = self.compile(source, self.base)
            if error:
                raise RuntimeError(f"{source}: {error}")
            text = self.object(source, self.base).with_suffix(".d").read_text()
            self.depends[source] = {
                os.path.normpath(name) for name in text.replace("\\\n", " ").split()[1:]}
        self.link(self.base, {})

    def object(self, source, folder):
        return folder / (Path(source).stem + ".o")

    def compile(self, source, folder):
        """Compile a file of the tree. Returns "" or what the compiler said."""
        target = self.object(source, folder)
        command = [*self.cc, *self.flags, "-MMD", "-c", "-o", str(target.resolve()), source]
        done = subprocess.run(command, cwd=self.tree, capture_output=True, text=True)
        return done.stderr or "error" if done.returncode else ""

    def link(self, folder, changed):
        objects = [str(changed.get(s, self.object(s, self.base))) for s in self.sources]
        subprocess.run([*self.cc, *self.mode, "-shared", "-o", str(folder / "libvpt.so"), *objects], check=True)

    def write(self, file, text):
        (self.tree / file).write_text(text)

    def restore(self, file):
        shutil.copyfile(self.root / file, self.tree / file)

    def build(self, file, text):
        """Build libvpt.so in work with `text` in place of a file of shared/.

        Returns "built", "same" if no object differs, or "broken" if it does not compile.
        """
        changed = {}
        self.write(file, text)
        try:
            for source in self.sources:
                if file not in self.depends[source]:
                    continue
                if self.compile(source, self.work):
                    return "broken"
                new, old = (self.object(source, f) for f in (self.work, self.base))
                if new.read_bytes() != old.read_bytes():
                    changed[source] = new
        finally:
            self.restore(file)
        self.link(self.work, changed)
        return "built" if changed else "same"

    def link_test(self, name, folder, replaced=(), unit=None):
        """Link a test program against libvpt.so, with other objects in place of some."""
        objects = [unit or self.built / f"tests/unit/{name}.o", self.built / "tests/lib/main.o"]
        archives = [self.built / "tests/libtest.a", self.built / "libvmm.a"]
        done = subprocess.run(
            [*self.cc, "-Wl,-t,-t", "-o", str(folder / name), *map(str, objects),
             *map(str, replaced), *map(str, archives), f"-L{self.base}", "-lvpt", *self.libs],
            check=True, stdout=subprocess.PIPE, text=True)
        if not unit and not replaced:
            self.inputs.note(name, done.stdout)
        return folder / name


def fingerprint(root, folders):
    """A hash of all sources that a verdict depends on."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted((Path(root) / folder).rglob("*")):
            if path.is_file() and path.suffix in (".c", ".h", ".def", ".tbl"):
                digest.update(str(path.relative_to(root)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
