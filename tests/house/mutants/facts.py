# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts of shared/spec, and the mutants that break each of them.

A row of a table is broken in its numbers. A rule is broken in the code that cites its tag in
brackets: in the rest of the line for a comment behind code, else in the statement, function or
definition that follows the comment. A packet is also broken in its opcode, and where the writer and
the reader name it: a row VPT_PKT has no number that the library uses.
"""
import re
from collections import defaultdict

from operators import Mutant, mutants
from scanner import matching, scan

ROW = re.compile(r"^(VPT_[A-Z_]*)\((.*)\)$", re.MULTILINE)
TAG = r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+"
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CITATION = re.compile(rf"\[({TAG}(?: {TAG})*)\]")
# What changes behaviour most comes first.
ORDER = {"operator": 0, "statement": 1, "constant": 2, "arguments": 3}


def rows(root):
    """Yield (tag, file, match) of each row of shared/spec."""
    for path in sorted((root / "shared/spec").glob("*.def")):
        name, text = str(path.relative_to(root)), path.read_text()
        for match in ROW.finditer(text):
            plain = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: " " * len(m.group()), match.group(2))
            tag = re.search(rf"(?:^|,)\s*({TAG})\s*,", plain)
            if tag:
                yield tag.group(1), name, text, match.start(2), plain


def row_mutants(tag, file, text, start, plain):
    """Each number of a row, one more, then one less, then far away."""
    for number in re.finditer(r"\b(0x[0-9a-f]+|\d+)\b", plain.replace(tag, " " * len(tag))):
        value = int(number.group(), 0)
        form = hex if number.group().startswith("0x") else str
        for new in (value + 1, value - 1, value + 16):
            if new < 0:
                continue
            a, b = start + number.start(), start + number.end()
            line = text[text.rfind("\n", 0, a) + 1 : text.find("\n", b)]
            after = text[text.rfind("\n", 0, a) + 1 : a] + form(new) + text[b : text.find("\n", b)]
            yield Mutant(file, tag, "constant", a, b, form(new), " ".join(line.split()),
                         " ".join(after.split()))


def region(text, tokens, comment):
    """(start, end) of the code that a comment is about."""
    line = text.rfind("\n", 0, comment.start()) + 1
    if text[line : comment.start()].strip():
        before = [t for t in tokens if line <= t.start < comment.start()]
        if before and before[-1].text not in (";", "{", "}"):
            behind = next((t for t in tokens if t.start >= comment.end() and t.text in ";{}"), None)
            return line, behind.end if behind else comment.end()
        return line, comment.start()
    i = next((i for i, t in enumerate(tokens) if t.start >= comment.end()), None)
    if i is None:
        return comment.end(), len(text)
    if tokens[i].directive:
        end = text.find("\n\n", tokens[i].start)
        return tokens[i].start, len(text) if end < 0 else end
    first, depth = i, 0
    while i < len(tokens):
        text_i = tokens[i].text
        depth += text_i == "("
        depth -= text_i == ")"
        if text_i == "}" and depth == 0:
            break
        if text_i == ";" and depth == 0:
            break
        if text_i == "{" and depth == 0:
            i = matching(tokens, i, "{", "}")
            following = tokens[i + 1].text if i + 1 < len(tokens) else ""
            if following not in ("else", ";", "="):
                break
        i += 1
    return tokens[first].start, tokens[min(i, len(tokens) - 1)].end


OPCODE = re.compile(r"^\t(VPTI?_(?:OP|EXT)_(\w+)) = (0x[0-9a-f]+)", re.MULTILINE)
PACKET_CODE = ("shared/include/vpt/encode.h", "shared/src/packet_opcodes.h",
               "shared/src/packet_write.c", "shared/src/packet_read.c")


def opcode_mutants(file, text):
    """Yield (kind, mutant) of each opcode, by one bit more or less."""
    for match in OPCODE.finditer(text):
        for bit in (0x40, 0x01):
            new = f"{int(match.group(3), 16) ^ bit:#04x}"
            yield match.group(2), Mutant(
                file, match.group(1), "constant", match.start(3), match.end(3), new,
                match.group().strip(), f"{match.group(1)} = {new}")


def packet_mutants(root):
    """{kind of packet: mutants}"""
    found = defaultdict(list)
    for file in PACKET_CODE:
        text = (root / file).read_text()
        for kind, mutant in opcode_mutants(file, text):
            found[kind].append(mutant)
        tokens, all_mutants = scan(text), mutants(file, text)
        for i, token in enumerate(tokens):
            match = re.fullmatch(r"VPTI?_(?:PKT|OP|EXT)_(\w+)", token.text)
            if not match or not token.function:
                continue
            start = text.rfind("\n", 0, token.start)
            end = next((t.end for t in tokens[i:] if t.text == ";"), len(text))
            found[match.group(1)] += [
                m for m in all_mutants if start <= m.start and m.end <= end]
    return found


class Facts:
    def __init__(self, root, folders=("shared/src", "shared/include", "vmm")):
        self.breaks = defaultdict(list)
        self.root = root
        for tag, file, text, start, plain in rows(root):
            self.breaks[tag] += row_mutants(tag, file, text, start, plain)
        packets = packet_mutants(root)
        for tag, file, text, start, plain in rows(root):
            if file.endswith("/packets.def"):
                self.breaks[tag] = packets[plain.split(",")[0].strip()] + self.breaks[tag]
        for folder in folders:
            for path in sorted((root / folder).rglob("*.[ch]")):
                self.read_code(path)

    def read_code(self, path):
        text = path.read_text()
        if not CITATION.search(text):
            return
        file = str(path.relative_to(self.root))
        tokens, found = scan(text), mutants(file, text)
        for comment in COMMENT.finditer(text):
            tags = [t for group in CITATION.findall(comment.group()) for t in group.split()]
            if not tags:
                continue
            start, end = region(text, tokens, comment)
            inside = [m for m in found if start <= m.start and m.end <= end]
            inside.sort(key=lambda m: ORDER[m.operator])
            for tag in tags:
                if tag in self.breaks or any(tag == t for t in tags):
                    self.breaks[tag] += [m for m in inside if m not in self.breaks[tag]]
