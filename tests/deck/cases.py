"""Decks of the folder cases behave as their first lines say, and what they are
told stands in the folder golden, word for word."""

import glob
import os
import re
import shutil

import tap

HERE = os.path.join(os.path.abspath(tap.TOP_SRCDIR), "tests", "deck")


def first_line(path):
    with open(path, "rb") as deck:
        return deck.readline().decode().strip()


def resolved_plan(path):
    """What `check` says of a deck, without its name."""
    shown = tap.warpdeck("check", path, "--measure", "0").stdout
    return shown.split("\n", 1)[1]


def refuses(name, line, words):
    """The deck is refused: right status, text, line; nothing was written."""
    with open(os.path.join(HERE, "golden", name[:-5] + ".txt"),
              encoding="utf-8") as golden:
        want = golden.read()
    for command in ("check", "run"):
        before = sorted(os.listdir("."))
        got = tap.warpdeck(command, name, check=False)
        tap.is_(got.returncode, 2, f"{name}: {command} exits with 2")
        tap.is_(got.stderr, want, f"{name}: {command} says what is wrong")
        tap.is_(sorted(os.listdir(".")), before,
                f"{name}: {command} writes nothing")
    said = [m.group(1) for m in re.finditer(rf"^{name}:(\d+):\d+: error: ",
                                            want, re.M)]
    if line:
        tap.ok(line in said, f"{name}: line {line} is named")
    tap.ok(said and all(word in want for word in words),
           f"{name}: mentions {', '.join(words) or 'a line'}")


def test_cases():
    decks = sorted(glob.glob(os.path.join(HERE, "cases", "*.toml")))
    tap.ok(len(decks) >= 17, "the decks are there")
    for path in decks:
        shutil.copy(path, ".")
    for path in decks:
        name = os.path.basename(path)
        expect = first_line(path)
        if "exit 0" in expect:
            got = tap.warpdeck("run", name, "--output", name + ".out",
                               check=False)
            if not tap.is_(got.returncode, 0, f"{name}: runs"):
                tap.note(got.stderr)
            tap.is_(resolved_plan(name), resolved_plan("small_melt.toml"),
                    f"{name}: means the same as small_melt.toml")
            continue
        line = re.search(r"line (\d+)", expect)
        words = re.search(r"mentions (.*)", expect)
        refuses(name, line and line.group(1),
                words.group(1).split(", ") if words else [])


def refused_file(path, *words, sentence):
    got = tap.warpdeck("run", path, check=False, timeout=60)
    lines = got.stderr.splitlines()
    held = (got.returncode == 2 and lines
            and lines[-1] == "1 error; nothing was started"
            and len(got.stderr) < 1000 and got.stderr.startswith(path + ":")
            and all(word in got.stderr for word in words))
    if not tap.ok(held, sentence):
        tap.note(f"status {got.returncode}\n{got.stderr[:600]}")


def test_files():
    os.mkdir("folder.toml")
    with open("nothing.toml", "wb"):
        pass
    with open("utf16.toml", "w", encoding="utf-16") as deck:
        deck.write('[run]\nsolver = "md"\n')
    with open("latin1.toml", "wb") as deck:
        deck.write('[run]\ntitle = "caf\xe9"\n'.encode("latin-1"))
    with open("long.toml", "wb") as deck:
        deck.write(b"[run]\nsolver = \"" + b"m" * (10 << 20) + b"\"\n")
    with open("zeros.toml", "wb") as deck:
        deck.write(bytes(4096))
    refused_file("missing.toml", "No such file", sentence="a missing deck")
    refused_file("folder.toml", "is a folder", sentence="a folder for a deck")
    refused_file("nothing.toml", "run.solver is missing",
                 sentence="an empty deck")
    refused_file("utf16.toml", "UTF-16", "save it as UTF-8",
                 sentence="a deck in UTF-16")
    refused_file("latin1.toml", ":2:13: error: byte 0xE9",
                 sentence="a deck in Latin-1")
    refused_file("long.toml", ":2:10: error: run.solver", "expected",
                 sentence="a line of 10 MiB")
    refused_file("zeros.toml", ":1:1: error: ", sentence="a deck of zeros")
    if os.path.exists("/proc/self/mem"):
        refused_file("/proc/self/mem", "cannot be read",
                     sentence="a file that cannot be read")
    else:
        tap.skip(1, "no file here that opens and cannot be read")
    if os.path.exists("/dev/zero"):
        refused_file("/dev/zero", "larger than", sentence="a file without end")
    else:
        tap.skip(1, "no file without end here")


def test_ranks():
    if not tap.have_mpi():
        tap.skip(1, "built without MPI")
        return
    got = tap.warpdeck("run", "two_errors.toml", "md.pair.cutof=1", ranks=3,
                       check=False, timeout=60)
    said = [line for line in got.stderr.splitlines() if ": error: " in line]
    if not tap.ok(got.returncode == 2 and len(said) == 3
                  and said[2].startswith("command line: md.pair.cutof=1: "),
                  "on three ranks the mistakes are told once"):
        tap.note(f"status {got.returncode}\n{got.stderr}")


def test_odd_names():
    """A path with blanks and letters of other alphabets (fault 14)."""
    folder = "år 1/出力"
    os.makedirs(folder)
    shutil.copy("small_melt.toml", os.path.join(folder, "dose é.toml"))
    got = tap.run(tap.WARPDECK, "run", "dose é.toml", "md.steps=2",
                  "output.name=ergebnis ü", cwd=folder, check=False)
    tap.is_(got.returncode, 0, "14: a deck in a folder of any name runs")
    tap.is_(sorted(os.listdir(folder)),
            ["dose é.toml", "ergebnis ü.ckpt.0.h5", "ergebnis ü.h5",
             "ergebnis ü.log"],
            "14: its results stand beside it")


test_cases()
test_files()
test_ranks()
test_odd_names()
tap.done()
