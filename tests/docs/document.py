#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Find the examples of documents, compare their output, and write the output anew.

usage: document.py extract DIR <DOCUMENTS >INDEX
       document.py match [--part] WANT GOT
       document.py judge DIR <EXAMPLES
       document.py renew LINE GOT DOCUMENT >NEW

extract: a line of DOCUMENTS is FORMAT, NAME, PREFIX and FILE, separated by tabs. FORMAT is md (Markdown), man (a manual page) or help (what vpt VERB --help prints). A line
of INDEX describes one example: ID, KIND, NAME:LINE and KEY, separated by tabs. KEY is the first
line of the example without its comment, with single blanks. KIND is
  run      a shell command; DIR/ID.cmd holds it, DIR/ID.want its output if one is shown
  guest    a command at a guest's prompt ("guest# ")
  code     a block of another language (c, xml, json); DIR/ID.want holds it
  sample   output shown without the command that prints it; DIR/ID.want holds it
  bad      a block without a language, or a command in a block of text

match: A line of WANT that is "..." stands for any number of lines, and "..." within a line for any
text. Seconds, sizes of files and empty lines at the end are not compared: seconds differ from run
to run, and files have ELF files with names of folders. With --part, GOT must have each line of WANT
in this order, with any lines between them, and numbers are not compared. Prints the first line of
WANT that GOT does not have, and exits with 1.

judge: a line of EXAMPLES is ID, or ID and --part. Matches DIR/ID.want and DIR/ID.got of each, and
writes what match prints to DIR/ID.wrong. The file is empty if they match.

renew: LINE is that of the example's command, and GOT holds the command's output. If the document
shows "..." lines, each line of the document is replaced by the next one of GOT that differs in
digits alone.
"""
import re
import sys

COMMAND = re.compile(r"([$#] )?(sudo )?(vpt|make|perf|virsh|gcc|git|insmod|rmmod|"
                     r"qemu-system-x86_64|build/[^ ]*|patches/[^ ]*|tests/[^ ]*) [^ ]")
PROMPT = re.compile(r"(\$ |guest[#$] )(.*)")


def read(file):
    """The lines of a file of any bytes."""
    return file.read().decode("latin-1").removesuffix("\n").split("\n") if file else []


def write(text, path=None):
    data = text.encode("latin-1")
    if path is None:
        sys.stdout.buffer.write(data)
    else:
        with open(path, "wb") as file:
            file.write(data)


def goes_on(text):
    """Whether the command so far continues in the next line."""
    return bool(re.search(r"\\$|(&&|\|\||\|)[ \t]*$", text))


class Document:
    def __init__(self, name, prefix, folder):
        self.name, self.prefix, self.folder = name, prefix, folder
        self.count, self.line = 0, 0
        self.kind = None  # of the open example
        self.start_block("")
        self.inside = self.blank = self.list = self.indented = self.sampling = False

    def begin(self, kind, text=""):
        self.finish()
        self.count += 1
        self.kind, self.at, self.command, self.shown = kind, self.line, [text], []

    def finish(self):
        if not self.kind:
            return
        key = (self.shown if self.kind == "sample" else self.command)[0]
        if self.kind != "sample":
            key = re.sub(r"[ \t]+# .*$", "", key)
        key = re.sub(r"[ \t]+", " ", key).removeprefix(" ").removesuffix(" ")
        name = f"{self.prefix}{self.count:03}"
        write(f"{name}\t{self.kind}\t{self.name}:{self.at}\t{key}\n")
        command = "\n".join(self.command) + "\n"
        if self.kind in ("run", "guest"):
            write(command, f"{self.folder}/{name}.cmd")
        if self.kind == "code":
            write(command, f"{self.folder}/{name}.want")
        elif self.shown:
            write("".join(line + "\n" for line in self.shown), f"{self.folder}/{name}.want")
        self.kind = None

    def start_block(self, language):
        self.language, self.heredoc, self.more = language, "", False

    def end_block(self):
        self.finish()
        self.language, self.inside = "", False

    def shell_line(self, text):
        """A line of a block of shell commands without prompts."""
        if self.heredoc:
            self.command.append(text)
            if text == self.heredoc:
                self.heredoc = ""
            return
        if self.more:
            self.command.append(text)
        else:
            self.finish()
            if re.fullmatch(r"[ \t]*(#.*)?", text):
                return
            self.begin("run", text)
        self.more = goes_on(text)
        here = re.search(r"<<'([A-Z]+)'", text)
        if here:
            self.heredoc = here[1]

    def console_line(self, text):
        """A line of a terminal: a prompt and a command, or output."""
        prompt = PROMPT.match(text)
        if self.kind and self.more:
            self.command.append(text)
            self.more = goes_on(text)
        elif prompt:
            self.begin("run" if prompt[1] == "$ " else "guest", prompt[2])
            self.more = goes_on(text)
        elif self.kind:
            self.shown.append(text)

    def md(self, text):
        if text.startswith("```"):
            if self.inside:
                self.end_block()
                return
            self.inside = True
            self.start_block(text[3:])
            if not self.language:
                self.begin("bad", "a block without a language")
                self.language = "none"
        elif not self.inside:
            self.prose(text)
        elif self.language == "sh":
            self.shell_line(text)
        elif self.language == "console":
            self.console_line(text)
        elif self.language == "text":
            if COMMAND.match(text):
                self.begin("bad", text)
        elif self.language != "none":
            if self.kind:
                self.command.append(text)
            else:
                self.begin("code", text)

    def prose(self, text):
        """An indented block has four blanks after an empty line, outside of a list."""
        if re.match("    [^ ]", text) and self.blank and not self.list and not self.indented:
            self.begin("bad", "an indented block")
            self.indented = True
        if re.match("[^ ]", text):
            self.finish()
            self.indented = False
            self.list = bool(re.match(r"([-*]|[0-9]+\.) ", text))
        self.blank = not text

    def man(self, text):
        if text in (".EX", ".nf"):
            self.inside = True
            self.start_block("")
        elif text in (".EE", ".fi"):
            self.end_block()
        elif self.inside:
            text = re.sub(r"\\f[BIRP]", "", re.sub(r"\\fI[^\\]*\\fR", "...", text))
            text = text.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
            if not self.language:
                self.language = "sh" if COMMAND.match(text) else "sample"
                if self.language == "sample":
                    self.begin("sample")
            if self.language == "sh":
                self.shell_line(text)
            else:
                self.shown.append(text)

    def help(self, text):
        """
        A command is indented by two blanks, and its description is two more to the right. Other
        lines that are indented by two are output, unless they describe options or verbs.
        """
        if not re.match("  [^ -]", text) or self.line <= 2:
            self.finish()
            self.sampling = False
            return
        text = text[2:]
        if COMMAND.match(text):
            self.begin("run", re.sub("  +[^ ].*$", "", text))
            self.finish()
            self.sampling = False
        elif not self.name.startswith("vpt --help"):
            if not self.sampling:
                self.begin("sample")
            self.sampling = True
            # A capital stands for a number or a name.
            self.shown.append(re.sub("(?<![^ ])[A-Z](?![^ ])", "...", text))


def extract(folder):
    for row in sys.stdin.read().splitlines():
        form, name, prefix, path = row.split("\t")
        document = Document(name, prefix, folder)
        with open(path, "rb") as file:
            for document.line, text in enumerate(read(file), 1):
                getattr(document, form)(text)
        document.finish()


def comparable(text, part):
    text = re.sub(r"[0-9]+\.[0-9]+ s", "# s", text)
    text = re.sub("[0-9]+ bytes of file", "# bytes of file", text).rstrip(" \t\r")
    if part:
        text = re.sub("[0-9a-f]{16}|0x[0-9a-f]+", "#", text)
        text = re.sub("[ \t]+", " ", re.sub("[0-9][0-9a-f]*", "#", text)).removeprefix(" ")
    return text


def matches(want, got):
    if "..." not in want:
        return want == got
    return bool(re.fullmatch(".*".join(map(re.escape, want.split("..."))), got))


def match_part(want, got):
    lines = [line for line in want if line != "..."]
    for text in got:
        if lines and matches(lines[0], text):
            lines.pop(0)
    return f"not printed: {lines[0]}" if lines else ""


def match_all(want, got):
    at, free = 0, False
    for line in want:
        if line == "...":
            free = True
            continue
        while free and at < len(got) and not matches(line, got[at]):
            at += 1
        if at >= len(got) or not matches(line, got[at]):
            return f"shown:   {line}\nprinted: {got[at] if at < len(got) else '(no such line)'}"
        free = False
        at += 1
    return f"printed, and not shown: {got[at]}" if at < len(got) and not free else ""


def difference(want, got, part):
    texts = []
    for path in (want, got):
        with open(path, "rb") as file:
            texts.append([comparable(line, part) for line in read(file)])
        while not part and texts[-1] and not texts[-1][-1]:
            texts[-1].pop()
        if part and texts[-1] == [""]:
            texts[-1] = []
    return (match_part if part else match_all)(*texts)


def match(*args):
    wrong = difference(*args[-2:], args[0] == "--part")
    if wrong:
        write(wrong + "\n")
        sys.exit(1)


def judge(folder):
    for row in sys.stdin.read().splitlines():
        name, *part = row.split()
        wrong = difference(f"{folder}/{name}.want", f"{folder}/{name}.got", part == ["--part"])
        write(wrong + "\n" if wrong else "", f"{folder}/{name}.wrong")


def skeleton(text):
    return re.sub("[ \t]+", " ", re.sub("[0-9]+", "#", text))


def renewed(old, new):
    if "..." not in old:
        return new
    at, lines = 0, []
    for text in old:
        same = [i for i in range(at, len(new)) if skeleton(new[i]) == skeleton(text)]
        if text != "..." and same:
            at = same[0] + 1
            text = new[at - 1]
        lines.append(text)
    return lines


def renew(line, got, document):
    with open(got, "rb") as file:
        new = read(file)
    with open(document, "rb") as file:
        lines = read(file)
    begin = int(line)
    while goes_on(lines[begin - 1]):
        begin += 1
    end = begin
    while end < len(lines) and not (PROMPT.match(lines[end]) or lines[end].startswith("```")):
        end += 1
    write("".join(text + "\n" for text in
                  lines[:begin] + renewed(lines[begin:end], new) + lines[end:]))


{"extract": extract, "match": match, "judge": judge, "renew": renew}[sys.argv[1]](*sys.argv[2:])
