# SPDX-License-Identifier: GPL-2.0-or-later
"""Split C source into tokens that know their place: function, line, directive.

This is no parser. It knows enough C to tell code from comments, strings from operators, and
one function or table from the next; the compiler judges what is made of it.
"""
import re
from dataclasses import dataclass

PATTERN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      |(?P<space>(?:\s|\\\n)+)
      |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      |(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<operator><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass
class Token:
    kind: str  # string, number, word or operator
    text: str
    start: int
    end: int
    function: str = ""  # the function or table around it, "" for none
    depth: int = 0  # braces around it
    directive: str = ""  # the preprocessor directive it belongs to


def line_spans(text):
    """Return (start, end) of each logical line: a backslash joins two lines."""
    spans, start = [], 0
    for match in re.finditer(r"(?<!\\)\n|\Z", text):
        spans.append((start, match.start()))
        start = match.end()
    return spans


def directives(text):
    """Return (start, end, name) of each preprocessor directive."""
    found = []
    for start, end in line_spans(text):
        match = re.match(r"[ \t]*#[ \t]*(\w+)", text[start:end])
        if match:
            found.append((start, end, match.group(1)))
    return found


def split(text):
    """Return the tokens of the text, without comments and blanks."""
    found = directives(text)
    tokens, at = [], 0
    for match in PATTERN.finditer(text):
        if match.lastgroup in ("comment", "space"):
            continue
        while at < len(found) and found[at][1] <= match.start():
            at += 1
        token = Token(match.lastgroup, match.group(), match.start(), match.end())
        if at < len(found) and found[at][0] <= match.start():
            token.directive = found[at][2]
        tokens.append(token)
    return tokens


def matching(tokens, index, opening, closing):
    """Return the index of the token that closes the bracket at index."""
    depth = 0
    for i in range(index, len(tokens)):
        depth += tokens[i].text == opening
        depth -= tokens[i].text == closing
        if depth == 0:
            return i
    return len(tokens) - 1


def owner(code, index):
    """Return the name of what the brace at index begins: a function, a table, or "" for a type."""
    i = index - 1
    while i >= 0 and code[i].text not in (";", "}"):
        i -= 1
    head = code[i + 1 : index]
    for n, token in enumerate(head):
        following = head[n + 1].text if n + 1 < len(head) else ""
        if token.kind == "word" and following in ("(", "[", "="):
            return token.text
    return ""


def place(tokens):
    """Fill in function and depth of each token."""
    code = [token for token in tokens if not token.directive]
    depth, name = 0, ""
    for i, token in enumerate(code):
        if token.text == "{":
            # extern "C" and VPT_BEGIN_DECLS open no scope that counts.
            if depth == 0:
                name = owner(code, i)
            depth += 1
        token.depth, token.function = depth, name if depth else ""
        if token.text == "}":
            depth -= 1
    return tokens


def scan(text):
    return place(split(text))
