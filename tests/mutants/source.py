# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants of a C source: small changes, one at a time, that a test shall notice."""
import collections
import hashlib
import re

TOKENS = (
    ("==", "!="), ("!=", "=="), ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"),
    ("&&", "||"), ("||", "&&"), ("+", "-"), ("-", "+"), ("&", "|"), ("|", "&"),
    ("<<", ">>"), (">>", "<<"), ("+=", "-="), ("-=", "+="), ("|=", "&="), ("&=", "|="),
)
PATTERNS = (
    (r"(?<= [+-] )1\b", "2"),
    (r"(?<=\()!(?=\w)", ""),
    (r"\bif \((?=\w)", "if (!"),
    (r"\breturn true\b", "return false"),
    (r"\breturn false\b", "return true"),
    (r"\breturn 0;", "return 1;"),
    (r"\breturn -E[A-Z]+;", "return 0;"),
    (r"\bcontinue;", "break;"),
    (r"\bmin\(", "max("),
    (r"\bmax\(", "min("),
)
RULES = [(re.compile(r"(?<=\s)%s(?=\s|$)" % re.escape(a)), b) for a, b in TOKENS]
RULES += [(re.compile(a), b) for a, b in PATTERNS]
STATEMENT = re.compile(r"^\t+(?!return|goto|case|default|else|if|for|while|do\b)"
                       r"[A-Za-z_*(][^;{}]*;\s*$")
# Statements whose order cannot matter, unless one writes what the other has.
DECLARATION = re.compile(r"^(?:[A-Za-z_]\w*\s+)+[\s*]*\w+(?:\[\w*\])?;$")
MEMSET = re.compile(r"^memset\([^(),]*\b(\w+), (?:[^()]|\([^()]*\))*\);$")
FREE = re.compile(r"^free\(([^()]*)\);$")
ASSIGNMENT = re.compile(r"^(?:[A-Za-z_][\w ]* \**)?[\w.>\[\]-]*\b(\w+)(?:\[[^\]]*\])? "
                        r"(?:[-+*/|&]|<<|>>)?= [^;]*;$")
CALL = re.compile(r"\b(?!sizeof\b)\w+\(")
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


class Mutant:
    """One change of one source: `lines` replace those from `line`, which starts at 1."""

    def __init__(self, path, line, old, new):
        self.path, self.line, self.old, self.new = path, line, old, new
        self.nth = 1
        self.key = (path, " ".join("".join(old).split()), " ".join("".join(new).split()))

    def name(self):
        """What the mutant is known by: of the second and later ones that look the same
        the number, too."""
        path, old, new = self.key
        return path, old, new if self.nth == 1 else "%s (%d)" % (new, self.nth)

    def rank(self, seed):
        """Where a seed puts the mutant: the same when other lines change."""
        text = "\0".join((str(seed), str(self.nth)) + self.key)
        return hashlib.sha256(text.encode()).digest()

    def apply(self, text):
        lines = text.splitlines(keepends=True)
        first = self.line - 1
        lines[first:first + len(self.old)] = self.new
        return "".join(lines)


def known_survivors(text):
    """{(path, old, new): why}, of paragraphs of "path: old", "-> new" and a reason."""
    known = {}
    text = "\n".join(line for line in text.splitlines()
                     if not line.startswith("#"))
    for paragraph in text.split("\n\n"):
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        if not lines:
            continue
        path, old = lines[0].split(": ", 1)
        known[path, old, lines[1].removeprefix("->").strip()] = " ".join(lines[2:])
    return known


def blank(text):
    """The text with comments and strings blanked, in the same columns."""
    return NOT_CODE.sub(lambda m: re.sub(r"[^\n]", "\1", m.group()), text)


def directives(code):
    """Numbers, from 0, of the lines of preprocessor directives."""
    found, inside = set(), False
    for n, line in enumerate(code):
        if inside or line.lstrip().startswith("#"):
            found.add(n)
            inside = line.rstrip().endswith("\\")
        else:
            inside = False
    return found


def is_statement(code, n):
    return STATEMENT.match(code[n]) and code[n].count("(") == code[n].count(")")


def indent(line):
    return len(line) - len(line.lstrip("\t"))


def effects(statement):
    """(what a statement writes, the names that it has), or None: it calls something."""
    names = set(re.findall(r"[A-Za-z_]\w*", statement))
    found = FREE.match(statement)
    if found:
        return found.group(1), names - {"free"}
    found = MEMSET.match(statement)
    if found:
        return found.group(1), names - {"memset", "sizeof"}
    if DECLARATION.match(statement):
        return None, names
    found = ASSIGNMENT.match(statement)
    if not found or CALL.search(statement):
        return None
    return found.group(1), names


def independent(first, second):
    """The order of the two does not matter: neither calls anything but free() and
    memset(), and neither writes a name that the other has.  Names that are shared with
    other CPUs are written by calls, WRITE_ONCE() and smp_store_release()."""
    first, second = effects(first.strip()), effects(second.strip())
    return (first and second and first[0] not in second[1] and second[0] not in first[1])


def mutants(path, text):
    """All mutants of a source."""
    seen = collections.Counter()
    for mutant in changes(path, text):
        seen[mutant.key] += 1
        mutant.nth = seen[mutant.key]
        yield mutant


def changes(path, text):
    lines = text.splitlines(keepends=True)
    code = blank(text).splitlines(keepends=True)
    skip = directives(code)
    for n, line in enumerate(lines):
        if n in skip:
            continue
        for rule, new in RULES:
            for hit in rule.finditer(code[n]):
                changed = line[:hit.start()] + new + line[hit.end():]
                if new == "if (!":
                    changed = negate(line, code[n], hit.end())
                if changed:
                    yield Mutant(path, n + 1, [line], [changed])
        before = code[n - 1].rstrip()[-1:] if n else ""
        if not is_statement(code, n) or before not in tuple(";{}:)\1"):
            continue
        yield Mutant(path, n + 1, [line], ["\t" * indent(line) + ";\n"])
        if (before != ")" and n + 1 < len(lines) and is_statement(code, n + 1) and
                indent(line) == indent(lines[n + 1]) and
                not independent(code[n], code[n + 1])):
            yield Mutant(path, n + 1, [line, lines[n + 1]], [lines[n + 1], line])


def negate(line, code, start):
    """The condition from `start` negated, or None: it goes on in the next line."""
    depth = 1
    for n in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[n], 0)
        if not depth:
            return line[:start] + "!(" + line[start:n] + ")" + line[n:]
    return None
