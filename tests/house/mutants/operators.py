# SPDX-License-Identifier: GPL-2.0-or-later
"""The mutants of a C source: each changes one operator, constant, statement or pair of arguments."""
import re
from dataclasses import dataclass

from scanner import matching, scan

TYPES = {
    "const", "static", "struct", "enum", "union", "unsigned", "signed", "int", "char", "bool",
    "void", "long", "short", "size_t", "inline", "extern", "typedef",
}
KEYWORDS = {"if", "while", "for", "switch", "return", "sizeof", "do", "else", "case", "default"}
SWAPS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"],
    "&": ["|"], "|": ["&"], "^": ["&"], "<<": [">>"], ">>": ["<<"],
    "++": ["--"], "--": ["++"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
    "&=": ["|="], "|=": ["&="], "<<=": [">>="], ">>=": ["<<="],
}
UNARY_TOO = {"+", "-", "*", "&"}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")


@dataclass(frozen=True)
class Mutant:
    file: str
    function: str
    operator: str  # operator, constant, statement or arguments
    start: int
    end: int
    text: str  # what takes the place of start to end
    before: str  # the lines around, without comments and blanks
    after: str  # the same lines with the change
    ordinal: int = 0  # 2, 3 ... for equal changes in one function

    @property
    def key(self):
        number = f" #{self.ordinal}" if self.ordinal else ""
        return f"{self.file}: {self.function}{number}\n- {self.before}\n+ {self.after}"


def is_type(token):
    return token.kind == "word" and (token.text in TYPES or token.text.endswith("_t"))


def is_cast(tokens, closing):
    """Does the parenthesis that ends at `closing` hold a type?"""
    depth = 0
    for k in range(closing, -1, -1):
        depth += (tokens[k].text == ")") - (tokens[k].text == "(")
        if depth == 0:
            inside = tokens[k + 1 : closing]
            return any(is_type(t) for t in inside) and all(
                t.kind == "word" or t.text == "*" for t in inside)
    return False


def ends_operand(tokens, i):
    """Does an operand end at i, so that an operator behind it is binary?"""
    token = tokens[i]
    if token.kind == "word":
        named = i and tokens[i - 1].text in ("struct", "enum", "union")
        return token.text not in KEYWORDS and not is_type(token) and not named
    if token.text == ")":
        return not is_cast(tokens, i)
    return token.kind in ("number", "string") or token.text in ("]", "++", "--")


def exchanged(text, tokens, a, b, c, d):
    """The text of tokens a to d, in which a to b and c to d have changed places."""
    one, two = text[tokens[a].start : tokens[b].end], text[tokens[c].start : tokens[d].end]
    return two + text[tokens[b].end : tokens[c].start] + one


def of_number(token):
    """A number becomes one more, and one less if it is not 0."""
    digits = token.text.rstrip("uUlL")
    suffix = token.text[len(digits) :]
    value = int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
    form = hex if digits[:2] in ("0x", "0X") else str
    return [form(n) + suffix for n in (value + 1, value - 1) if n >= 0]


def of_condition(text, tokens, i):
    """(start, end, text) of the condition of `if` or `while` at i, negated."""
    closing = matching(tokens, i + 1, "(", ")")
    inside = tokens[i + 2 : closing]
    # A single comparison or negation is negated by its own operator.
    if not any(t.text in ("&&", "||") for t in inside):
        if inside[0].text == "!" or any(t.text in COMPARISONS for t in inside):
            return None
    start, end = tokens[i + 1].end, tokens[closing].start
    return start, end, f"!({text[start:end]})"


def of_choice(text, tokens, i):
    """(start, end, text) of the conditional expression whose `?` is at i, branches exchanged."""
    depth, colon = 0, None
    for k in range(i + 1, len(tokens)):
        word = tokens[k].text
        if depth == 0 and colon and (word in (";", ",", ":") or word in CLOSING):
            return (tokens[i + 1].start, tokens[k - 1].end,
                    exchanged(text, tokens, i + 1, colon - 1, colon + 1, k - 1))
        if depth == 0 and word == ":":
            colon = k
            continue
        depth += (word in OPENING) - (word in CLOSING) + (word == "?") - (word == ":")
    return None


def of_arguments(text, tokens, i):
    """(start, end, text) for each pair of neighbours among the arguments of the call at i."""
    close = matching(tokens, i + 1, "(", ")")
    spans, depth, first = [], 0, i + 2
    for k in range(i + 2, close + 1):
        word = tokens[k].text
        if (word == "," and depth == 0) or k == close:
            if k > first:
                spans.append((first, k - 1))
            first = k + 1
        depth += (word in OPENING) - (word in CLOSING)
    for (a, b), (c, d) in zip(spans, spans[1:]):
        start, end, new = tokens[a].start, tokens[d].end, exchanged(text, tokens, a, b, c, d)
        if new != text[start:end]:
            yield start, end, new


def of_token(text, tokens, i):
    """Yield (operator, start, end, text) of the changes to the token at i."""
    token = tokens[i]
    following = tokens[i + 1].text if i + 1 < len(tokens) else ""
    if token.kind == "number":
        for new in of_number(token):
            yield "constant", token.start, token.end, new
    elif token.text in ("true", "false"):
        yield "constant", token.start, token.end, "false" if token.text == "true" else "true"
    elif token.text in SWAPS:
        if token.text not in UNARY_TOO or (i and ends_operand(tokens, i - 1)):
            for new in SWAPS[token.text]:
                yield "operator", token.start, token.end, new
    elif token.text in ("!", "~"):
        yield "operator", token.start, token.end, ""
    elif token.text == "?" or (token.text in ("if", "while") and not token.directive):
        change = (of_choice if token.text == "?" else of_condition)(text, tokens, i)
        if change:
            yield "operator", *change
    elif token.kind == "word" and token.depth and following == "(" and token.text not in KEYWORDS:
        for change in of_arguments(text, tokens, i):
            yield "arguments", *change


def statements(tokens):
    """Yield (first, last) of what a semicolon ends inside a function."""
    i, start = 0, None
    while i < len(tokens):
        token = tokens[i]
        if token.directive or not token.function:
            start = None
        elif token.text in ("if", "while", "for", "switch"):
            i, start = matching(tokens, i + 1, "(", ")"), None
        elif token.text in ("{", "}", "else", "do"):
            start = None
        elif token.text in ("case", "default") and start is None:
            while tokens[i].text != ":":
                i += 1
        elif token.text == ";":
            if start is not None:
                yield start, i
            start = None
        elif start is None:
            start = i
        i += 1


def is_declaration(tokens, first):
    head, following = tokens[first], tokens[first + 1]
    return is_type(head) or head.text.startswith("VPT_STATIC") or (
        head.kind == "word" and following.kind == "word" and head.text not in KEYWORDS)


def no_code(tokens):
    """Indices of what is no code: sizeof, assertions, attributes, sizes of declared arrays."""
    out = set()
    for i, token in enumerate(tokens[:-1]):
        if token.text in ("sizeof", "__attribute__", "VPT_STATIC_ASSERT"):
            if tokens[i + 1].text == "(":
                out.update(range(i, matching(tokens, i + 1, "(", ")") + 1))
        if token.text == "[" and i > 1 and tokens[i - 1].kind == "word":
            before = tokens[i - 2]
            if is_type(before) or before.text == "*" or (
                before.kind == "word" and before.text not in KEYWORDS):
                out.update(range(i, matching(tokens, i, "[", "]") + 1))
    return out


def macro_names(tokens):
    """{index: name} of the tokens in the bodies of #define."""
    names = {}
    for i, token in enumerate(tokens):
        if token.directive == "define" and token.text == "define":
            k = i + 2
            while k < len(tokens) and tokens[k].directive and tokens[k].text != "#":
                names[k] = tokens[i + 1].text
                k += 1
    return names


def changes(text, tokens, defines):
    """Yield (operator, function, start, end, text)."""
    skip, macros = no_code(tokens), macro_names(tokens) if defines else {}
    for i, token in enumerate(tokens):
        where = macros.get(i) if token.directive else token.function
        if where and i not in skip:
            for operator, start, end, new in of_token(text, tokens, i):
                yield operator, where, start, end, new
    for first, last in statements(tokens):
        if not is_declaration(tokens, first):
            yield "statement", tokens[first].function, tokens[first].start, tokens[last].start, ""


def plain(text):
    """The text without comments, blanks collapsed."""
    return " ".join(re.sub(r"/\*.*?(\*/|\Z)|//[^\n]*", "", text, flags=re.DOTALL).split())


def mutants(file, text, defines=True):
    """Return the mutants of a file, in the order of the text; with those of its macros."""
    seen, out = {}, []
    for operator, function, start, end, new in changes(text, scan(text), defines):
        a, b = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        before, after = plain(text[a:b]), plain(text[a:start] + new + text[end:b])
        same = (function, before, after)
        seen[same] = seen.get(same, 0) + 1
        out.append(Mutant(file, function, operator, start, end, new, before, after,
                          seen[same] if seen[same] > 1 else 0))
    return sorted(out, key=lambda m: (m.start, m.end, m.text))


def apply(text, mutant):
    return text[: mutant.start] + mutant.text + text[mutant.end :]
