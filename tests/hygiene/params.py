"""Every declared key of decks is explained, and none is read by nobody."""

import re
import subprocess

import tap
import tree

LITERAL = r'"((?:\\.|[^"\\\n])*)"'
ROW = re.compile(r'\{\s*"([a-z_.]+)",\s*"([a-z_]+)",\s*(PARAM_[A-Z_]+),'
                 r'((?:[^"{}]|' + LITERAL.replace("(", "(?:", 1) + r')*)\}')
SECTION = re.compile(r'\{\s*"([a-z_.]+)",\s*[01],\s*[01],\s*((?:'
                     + LITERAL + r'\s*)+)\}')

paths = tree.files(".c", ".h", under=("src", "solvers", "kernels"))
rows, sections, rest = [], {}, ""
for path in paths:
    text = re.sub(r"/\*.*?\*/", "", tree.text(path), flags=re.S)
    rows += [(path, *found.groups()) for found in ROW.finditer(text)]
    sections.update((f.group(1), f.group(2)) for f in SECTION.finditer(text))
    rest += ROW.sub("", text)

tap.ok(len(rows) > 25, f"the tables of keys are found ({len(rows)} keys)")

poor, nobody, homeless = [], [], []
for path, section, key, _, tail in rows:
    help_text = "".join(re.findall(r'((?:' + LITERAL + r'\s*)+)$', tail)[-1][:1]
                        if re.search(LITERAL + r'\s*$', tail) else "")
    help_text = "".join(re.findall(LITERAL, help_text))
    if len(help_text) < 15 or not help_text.endswith("."):
        poor.append(f"{path}: {section}.{key}: \"{help_text}\"")
    # A key with one choice alone says what there is, and is checked as such.
    only_choice = re.search(r'"\\"(\w+)\\"",.*"\1",', tail, flags=re.S)
    if f'"{key}"' not in rest and not only_choice:
        nobody.append(f"{path}: {section}.{key}")
    if section not in sections:
        homeless.append(f"{path}: {section}.{key}")
tree.report(poor, "every key has a sentence of help")
tree.report(nobody, "every key is read by somebody")
tree.report(homeless, "every key stands in a declared section")

shown = subprocess.run([tap.WARPDECK, "docs", "man"], stdout=subprocess.PIPE,
                       text=True, check=False).stdout
tree.report([f"{section}.{key}" for _, section, key, _, _ in rows
             if not re.search(rf"\b{key.replace('_', '[_]')}\b",
                              shown.replace("\\", ""))],
            "the manual page has every key")
tap.done()
