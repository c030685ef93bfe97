"""Every declared key of decks is explained, and none is read by nobody."""

import re
import subprocess

import tap
import tree

LITERAL = r'"(?:\\.|[^"\\\n])*"'
# A row of a table, with the members' names or without.
ROW = re.compile(r'\{\s*(?:\.section = )?"([a-z_.]+)",\s*'
                 r'(?:\.key = )?"([a-z_]+)",\s*(?:\.type = )?PARAM_[A-Z_]+,'
                 r'((?:[^"{}]|\{[^{}]*\}|' + LITERAL + r')*)\}')
SECTION = re.compile(r'\{\s*"([a-z_.]+)",\s*[01],\s*[01],\s*'
                     r'(?:' + LITERAL + r'\s*)+\}')
HELP = re.compile(r'((?:' + LITERAL + r'\s*)+)$')

paths = tree.files(".c", ".h", ".def", under=("src", "solvers", "kernels"))
rows, sections, rest = [], set(), ""
for path in paths:
    text = re.sub(r"/\*.*?\*/", "", tree.text(path), flags=re.S)
    rows += [(path, *found.groups()) for found in ROW.finditer(text)]
    sections.update(found.group(1) for found in SECTION.finditer(text))
    rest += ROW.sub("", text)

tap.ok(len(rows) > 40, f"the tables of keys are found ({len(rows)} keys)")

poor, nobody, homeless = [], [], []
for path, section, key, tail in rows:
    found = HELP.search(tail.rstrip().rstrip(","))
    help_text = "".join(part[1:-1] for part in
                        re.findall(LITERAL, found.group(1))) if found else ""
    if len(help_text) < 15 or not help_text.endswith("."):
        poor.append(f"{path}: {section}.{key}: \"{help_text}\"")
    # A key with one choice alone says what there is, and is checked as such.
    only_choice = re.search(r'"\\"(\w+)\\"".*"\1",', tail, flags=re.S)
    if f'"{key}"' not in rest and not only_choice:
        nobody.append(f"{path}: {section}.{key}")
    if section not in sections:
        homeless.append(f"{path}: {section}.{key}")
tree.report(poor, "every key has a sentence of help")
tree.report(nobody, "every key is read by somebody")
tree.report(homeless, "every key stands in a declared section")



def made(what):
    """What the program makes of its tables for man pages and shells."""
    return subprocess.run([tap.WARPDECK, "docs", what], stdout=subprocess.PIPE,
                          text=True, check=False).stdout


shown = made("man")
tree.report([f"{section}.{key}" for _, section, key, _ in rows
             if not re.search(rf"\b{key.replace('_', '[_]')}\b",
                              shown.replace("\\", ""))],
            "the manual page has every key")

# Tables for users of other programs name keys in full: `md.pair.cutoff`, also with
# a value behind it, and sections: `[md.pair]`.
known = set(re.findall(r"[a-z][a-z_.]+", made("completion"))) | sections
rooms = "|".join(sorted({section.split(".")[0] for section in sections}))
NAMED = re.compile(rf"`(?:\[\[?)?((?:{rooms})(?:\.[a-z_]+)+)(?:\]?\]| = [^`]*)?`")
tree.report([f"{page}: {name}" for page in tree.files(".md", under=("docs",))
             for name in NAMED.findall(tree.text(page)) if name not in known],
            "every key and section that a page names is there")
tree.report([f"{path}: {name}" for path in paths if path.endswith("_words.def")
             for name in re.findall(rf"\b((?:{rooms})(?:\.[a-z_]+)+)",
                                    re.sub(r"/\*.*?\*/", "", tree.text(path),
                                           flags=re.S))
             if name not in known],
            "every key that a message names in place of others' words is there")
tap.done()
