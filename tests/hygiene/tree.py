"""What the hygiene tests know of the source tree: its files and their text."""

import os
import re

import tap

TOP = os.path.abspath(tap.TOP_SRCDIR)
ROOMS = ("src", "solvers", "kernels", "inputs", "postproc", "tests", "bench",
         "docs", "man", "packaging", ".ci", "m4", "build-aux", "scripts")
# Put there by ./bootstrap; not ours.
FOREIGN = re.compile(r"build-aux/(?!revision\.sh$)|/[w]ork/|__pycache__|/\.deps/")


def files(*endings, under=ROOMS):
    """Paths relative to the top, sorted. Without endings: all text files of the
    project, those at the top included."""
    found = []
    for room in under:
        for folder, _, names in os.walk(os.path.join(TOP, room)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), TOP)
                if not FOREIGN.search(path):
                    found.append(path)
    if not endings:
        found += [name for name in ("configure.ac", "Makefile.am", "bootstrap",
                                    "quickstart", "README.md", "CHANGES",
                                    "ARCHITECTURE.md", "CITATION.cff")
                  if os.path.exists(os.path.join(TOP, name))]
    return sorted(p for p in found
                  if (p.endswith(endings) if endings else not is_binary(p)))


def is_binary(path):
    """Whether a file is no text: pictures have a zero byte early on."""
    with open(os.path.join(TOP, path), "rb") as f:
        return b"\0" in f.read(1024)


def text(path):
    with open(os.path.join(TOP, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def code(path):
    """The text of a C file with comments and the insides of string and character
    literals blanked, line breaks kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def blank(match):
        found = match.group(0)
        if found.startswith("/"):
            return re.sub(r"[^\n]", " ", found)
        return found[0] + " " * (len(found) - 2) + found[0]

    # Names of included files are not strings to blank.
    return re.sub(r'^(\s*#\s*include\s*"[^"]*")|' + pattern.pattern,
                  lambda m: m.group(1) or blank(m), text(path),
                  flags=re.S | re.M)


def report(bad, sentence):
    """One result; each entry of `bad` is shown."""
    tap.ok(not bad, sentence)
    for line in bad[:25]:
        tap.note(line)
    if len(bad) > 25:
        tap.note(f"... and {len(bad) - 25} more")
