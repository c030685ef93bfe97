"""The resolved deck in a file of results, all defaults filled in, is a deck: it
runs, and resolves to itself."""

import os
import shutil

import tap

tap.need("h5py")

import h5py

INPUTS = os.path.join(tap.TOP_SRCDIR, "inputs")
DECKS = [("md/copper", "md.steps=0"), ("md/liquid_npt", "md.steps=0"),
         ("md/water", "md.steps=0"), ("fluid/heated_cavity", "fluid.steps=0"),
         ("risk/exposure", "risk.exposure.paths=2000"),
         ("risk/asian", "risk.paths=2000")]


def resolved(deck, *changes):
    """Run it; the text of its resolved deck."""
    done = tap.warpdeck("run", deck, *changes, "output.name=r", "--output",
                        "out", "--overwrite", "-q", check=False)
    if done.returncode != 0:
        return done.stderr
    with h5py.File("out/r.h5", "r") as f:
        return bytes(f["run/resolved_deck"][()]).decode()


for name, change in DECKS:
    folder = os.path.join(INPUTS, os.path.dirname(name))
    for entry in os.listdir(folder):  # what decks name stands beside them
        if not entry.endswith((".toml", ".py")):
            shutil.copyfile(os.path.join(folder, entry), entry)
    first = resolved(os.path.join(INPUTS, name + ".toml"), change)
    with open("again.toml", "w", encoding="utf-8") as out:
        out.write(first)
    tap.is_(resolved("again.toml"), first, f"{name}: its resolved deck runs")
tap.done()
