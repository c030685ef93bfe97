"""The help of decks comes from the tables that check them, and is true."""

import os
import re
import shutil
import subprocess

import tap


def shown(*args, status=0):
    got = tap.warpdeck(*args, check=False)
    if not tap.is_(got.returncode, status,
                   f"{' '.join(args)} exits with {status}"):
        tap.note(got.stderr)
    return got.stdout if status == 0 else got.stderr


def has(text, *words, sentence):
    missing = [word for word in words if word not in text]
    if not tap.ok(not missing, sentence):
        tap.note(f"missing {missing} in\n{text[:1500]}")


def keys_of(text):
    """The full names of all keys that `explain SOLVER` or the like lists."""
    section, keys = "", []
    for line in text.splitlines():
        if match := re.match(r"\[+([a-z_.]+)\]+", line):
            section = match.group(1)
        elif match := re.match(r"  ([a-z_]+)$", line):
            keys.append(section + "." + match.group(1))
    return keys


def test_explain():
    text = shown("explain")
    has(text, "[run]", "[domain]", "[output]", "[checkpoint]", "Solver md:",
        "[md.pair]", "[[md.species]]",
        sentence="explain lists solvers and sections")
    text = shown("explain", "md")
    has(text, "md: molecular dynamics", "[md.pair]", "  cutoff\n",
        sentence="explain md lists its keys")
    keys = keys_of(text)
    tap.ok(len(keys) > 20, f"it has {len(keys)} keys")
    for section in ("run", "domain", "output", "checkpoint"):
        keys += keys_of(shown("explain", section))
    bad = []
    for key in keys:
        got = tap.warpdeck("explain", key, check=False)
        if got.returncode != 0 or not re.search(
                r"\n\n  type      .*(.|\n)*\n  default   .*\n  example   "
                + key.split(".")[-1] + " = ", got.stdout):
            bad.append(key)
    tap.is_(bad, [], "each key by itself shows type, default and example")
    has(shown("explain", "md.pair"), "[md.pair]", "cutoff", "number > 0",
        "[[md.pair.coefficients]]",
        sentence="a section shows its keys and what is below")
    has(shown("explain", "md.pair.coefficients.sigma"),
        "md.pair.coefficients.sigma\n",
        "real: Angstrom", "range     > 0", "none: may be left out",
        sentence="a key shows unit, range and default")
    has(shown("explain", "output.slice.position"), "none: required",
        sentence="and whether it is required")
    has(shown("explain", "md.ensemble.type"), '"nve", "langevin", "bussi"',
        sentence="a key shows its choices")
    has(shown("explain", "md.pair.cutof", status=2),
        "did you mean 'md.pair.cutoff'?",
        sentence="a misspelt key is not far from the right one")
    has(shown("explain", "skin", status=2), "did you mean md.pair.skin?",
        sentence="a key without its section is found")
    has(shown("explain", "mdd", status=2), "'mdd'",
        sentence="a wrong name is told")


def uncommented(text):
    """The starter with each optional key and section made live."""
    return re.sub(r"^#(?=[\[a-z])", "", text, flags=re.M)


def new_flow():
    """The same of a solver that adds to the driver's sections."""
    text = shown("new", "fluid", "--all")
    heads = re.findall(r"^#?(\[+[a-z_.]+\]+)$", text, flags=re.M)
    tap.is_(sorted(h for h in set(heads) if heads.count(h) > 1), [],
            "each section stands once in the deck of a flow")
    with open("flow.toml", "w", encoding="utf-8") as deck:
        deck.write(text)
    got = tap.warpdeck("run", "flow.toml", "fluid.steps=2",
                       "domain.cells=[8,8,8]", check=False)
    if not tap.is_(got.returncode, 0, "it runs as it stands"):
        tap.note(got.stderr)
    with open("flow_all.toml", "w", encoding="utf-8") as deck:
        deck.write(uncommented(text))
    got = tap.warpdeck("check", "flow_all.toml", check=False)
    wrong = re.findall(r".*(?:unknown|expected|must be a).*", got.stderr)
    tap.is_(wrong, [], "every key of a flow is known, with its type")
    has(shown("explain", "fluid.boundary.x"),
        'short: x = "periodic" in [fluid.boundary]',
        sentence="explain tells the short form of a section")


def test_new():
    text = shown("new", "md")
    tap.ok(len(text.splitlines()) < 170 and "[md.bonds]" in text and
           re.search(r"# Further keys:\n#   .*\bgraphs\b", text),
           "new prints a short deck, and names what else there is")
    with open("short.toml", "w", encoding="utf-8") as deck:
        deck.write(text)
    got = tap.warpdeck("check", "short.toml", "--measure", "0", check=False)
    if not tap.is_(got.returncode, 0, "which passes the check"):
        tap.note(got.stderr)
    text = shown("new", "md", "--all")
    with open("first.toml", "w", encoding="utf-8") as deck:
        deck.write(text)
    tap.ok(text.startswith("# ") and max(map(len, text.splitlines())) < 80,
           "new --all prints a deck with lines below 80 columns")
    keys = re.findall(r"^#?([a-z_]+) = ", text, flags=re.M)
    tap.ok(len(keys) > 30, f"it has {len(keys)} keys, live or as comments")
    got = tap.warpdeck("check", "first.toml", check=False)
    if not tap.is_(got.returncode, 0, "it passes the check as it stands"):
        tap.note(got.stderr)
    got = tap.warpdeck("run", "first.toml", "md.steps=2", check=False)
    if not tap.is_(got.returncode, 0, "and runs"):
        tap.note(got.stderr)
    # All keys at their shown value: no key is unknown, none of the wrong type.
    with open("all.toml", "w", encoding="utf-8") as deck:
        deck.write(uncommented(text))
    got = tap.warpdeck("check", "all.toml", check=False)
    wrong = re.findall(r".*(?:unknown|expected|must be a).*", got.stderr)
    tap.is_(wrong, [], "every key it shows is known, with a value of its type")
    new_flow()
    has(shown("new", "mdd", status=2), "no solver 'mdd'",
        sentence="a wrong solver is told")


def test_docs():
    page = shown("docs", "man")
    has(page, ".TH WARPDECK 1", ".SH SYNOPSIS", ".SH EXIT STATUS", "cutoff",
        sentence="docs man prints a manual page")
    groff = shutil.which("groff")
    if groff:
        done = subprocess.run([groff, "-man", "-ww", "-Tascii"], input=page,
                              capture_output=True, text=True, check=False)
        tap.is_(done.stderr, "", "groff has nothing to say against it")
    else:
        tap.skip(1, "no groff here")
    script = shown("docs", "completion")
    bash = shutil.which("bash")
    if not bash:
        tap.skip(5, "no bash here")
        return
    open("a.toml", "w", encoding="utf-8").close()
    for words, want in ((["ru"], "run"), (["run", "a.to"], "a.toml"),
                        (["run", "a.toml", "md.pair.cutof"], "md.pair.cutoff="),
                        (["explain", "md.pair.cutof"], "md.pair.cutoff"),
                        (["run", "--device", "cu"], "cuda"),
                        (["run", "--overw"], "--overwrite"),
                        (["new", "m"], "md")):
        line = " ".join(f"'{word}'" for word in ["warpdeck", *words])
        done = subprocess.run(
            [bash, "-c", script + f"\ncompopt() {{ :; }}\nCOMP_WORDS=({line})\n"
             f"COMP_CWORD={len(words)}\n_warpdeck\n"
             'printf "%s\\n" "${COMPREPLY[@]}"'],
            capture_output=True, text=True, check=False)
        tap.is_(done.stdout.split() + done.stderr.split(), [want],
                f"'{' '.join(words)}' is completed to {want}")
    has(shown("docs", "poem", status=2), "man or completion",
        sentence="docs knows no other thing")


test_explain()
test_new()
test_docs()
if os.path.exists("/dev/full"):
    with open("/dev/full", "w", encoding="utf-8") as full:
        tap.is_(subprocess.run([tap.WARPDECK, "new", "md"], stdout=full,
                               stderr=subprocess.DEVNULL,
                               check=False).returncode, 1,
                "help that can not be written is an error")
else:
    tap.skip(1, "no /dev/full here")
tap.done()
