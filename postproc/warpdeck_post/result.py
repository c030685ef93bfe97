"""Read a result file of a run.

A file may still be growing, or belong to a run that was killed: then datasets of
one kind may differ in length by what was not finished, and the shortest counts.
"""

import os
import re

import h5py
import numpy

from . import chunks, labels
from .errors import PostError
from .opening import open_file, text_of

# Observables in the order in which people read them; others follow.
_ORDER = ("potential_energy", "kinetic_energy", "total_energy",
          "conserved_energy", "temperature", "pressure")


class Result:
    """An open result file. Use it in a with statement."""

    def __init__(self, path):
        self.path = path
        self.file = open_file(path)
        self.run = {k: self._attribute(v)
                    for k, v in self.file["run"].attrs.items()}
        # particles; flows have units in any case, and risk has none
        self.is_risk = self.run.get("solver") == "risk"
        self.is_md = "h5md" in self.file and not self.is_risk
        self.reduced = self.run.get("units") == "lj" and self.is_md

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.file.close()
        # An OSError with a number is the system's, about another file or a
        # pipe; HDF5's have none.
        if isinstance(error, (OSError, KeyError, RuntimeError)) and (
                getattr(error, "errno", None) is None):
            reason = " ".join(str(error).split())
            raise PostError(f"'{self.path}' is damaged: {reason}") from None
        return False

    @staticmethod
    def _attribute(value):
        if isinstance(value, (bytes, str)):
            return text_of(value)
        return value

    @property
    def is_frame(self):
        """Whether it is a frame of fields on a grid."""
        return "VTKHDF" in self.file

    # ---- the run ----

    @property
    def complete(self):
        return int(self.run.get("complete", 0)) == 1

    @property
    def deck(self):
        return text_of(self.file["run/deck"][()])

    @property
    def resolved_deck(self):
        """Of the latest run that went on with the file."""
        last = max((int(k) for k in self.file.get("run/resumed", {})),
                   default=None)
        where = "run" if last is None else f"run/resumed/{last}"
        return text_of(self.file[f"{where}/resolved_deck"][()])

    def deck_value(self, section, key):
        """The text of a value in the resolved deck, or None."""
        here = None
        for line in self.resolved_deck.splitlines():
            line = line.strip()
            if line.startswith("["):
                here = line.strip("[] ")
            found = re.match(r"([A-Za-z0-9_]+)\s*=\s*(.*)", line)
            if found and here == section and found[1] == key:
                return found[2]
        return None

    def deck_section(self, section):
        """The keys of a section of the resolved deck, as text."""
        here, found = None, {}
        for line in self.resolved_deck.splitlines():
            line = line.strip()
            if line.startswith("["):
                here = line.strip("[] ")
            elif here == section and "=" in line:
                key, value = line.split("=", 1)
                found[key.strip()] = value.strip()
        return found

    def deck_tables(self, section):
        """The same for each [[section]] that the deck has."""
        found, here = [], False
        for line in self.resolved_deck.splitlines():
            line = line.strip()
            if line.startswith("["):
                here = line == f"[[{section}]]"
                if here:
                    found.append({})
            elif here and "=" in line:
                key, value = line.split("=", 1)
                found[-1][key.strip()] = value.strip()
        return found

    def resumed(self):
        """For each job that went on with the file: step, start, host, ranks,
        version."""
        found = []
        for k in sorted(self.file.get("run/resumed", {}), key=int):
            a = self.file[f"run/resumed/{k}"].attrs
            found.append([int(a.get("step", 0))] + [
                text_of(a.get(name, "")) for name in
                ("start", "host", "ranks", "version")])
        return found

    @property
    def steps_wanted(self):
        """Steps of the whole run, or None."""
        solver = self.run.get("solver", "md")
        text = (self.deck_value(solver, "steps") or "").split("#")[0]
        try:
            return int(text.replace("_", ""))
        except ValueError:
            return None

    @property
    def time_wanted(self):
        """The time at which the run ends, or None."""
        text = self.deck_value(self.run.get("solver", ""), "end_time") or ""
        try:
            return float(text.split("#")[0].replace("_", ""))
        except ValueError:
            return None

    @property
    def title(self):
        """The deck's title, or its name."""
        name = os.path.basename(self.run.get("deck_path", "") or self.path)
        return self.run.get("title") or os.path.splitext(name)[0]

    # ---- units ----

    def unit(self, dataset, kind):
        """The unit for a label: of the file, or the reduced one of `kind`."""
        if self.reduced:
            return labels.reduced(kind)
        attributes = dataset.attrs
        return labels.pretty(text_of(attributes.get(
            "unit", attributes.get("physical_unit", ""))))

    # ---- observables ----

    @property
    def observables(self):
        """Their names."""
        group = self.file.get("observables", {})
        names = [k for k in group if "value" in group[k]]
        return ([k for k in _ORDER if k in names] +
                [k for k in names if k not in _ORDER])

    @property
    def rows(self):
        """How many rows all observables have."""
        group = self.file.get("observables", {})
        return min((len(group[f"{k}/{d}"]) for k in self.observables
                    for d in ("step", "time", "value")), default=0)

    def observable(self, name):
        """Its values."""
        return self.file[f"observables/{name}/value"][:self.rows]

    def observable_unit(self, name):
        return self.unit(self.file[f"observables/{name}/value"],
                         labels.quantity(name))

    def row_steps(self):
        return self.file[f"observables/{self.observables[0]}/step"][:self.rows]

    def row_times(self):
        return self.file[f"observables/{self.observables[0]}/time"][:self.rows]

    def time_unit(self):
        return self.unit(
            self.file[f"observables/{self.observables[0]}/time"], "time")

    # ---- particles ----

    @property
    def has_particles(self):
        return "particles/all/box/edges/value" in self.file

    def fields(self, constant=False):
        """Names of fields that change with time, or of constant ones."""
        if not self.has_particles:
            return []
        group = self.file["particles/all"]
        return [k for k in group if k != "box" and
                constant == isinstance(group[k], h5py.Dataset)]

    @property
    def frames(self):
        """How many frames are whole."""
        if not self.has_particles:
            return 0
        group = self.file["particles/all"]
        edges = group["box/edges"]
        return min([len(edges[k]) for k in ("step", "time", "value")] +
                   [len(group[k]["value"]) for k in self.fields()])

    @property
    def particle_count(self):
        """Or None in a file without frames."""
        for name in self.fields():
            return self.file[f"particles/all/{name}/value"].shape[1]
        for name in self.fields(constant=True):
            return self.file[f"particles/all/{name}"].shape[0]
        return None

    def field(self, name, frame=None):
        """A frame of a field, or a constant field; None where it is not."""
        item = self.file.get(f"particles/all/{name}")
        if item is None:
            return None
        return item[()] if isinstance(item, h5py.Dataset) else (
            item["value"][frame])

    def field_piece(self, name, frame, piece):
        """The same for a slice of the particles."""
        item = self.file[f"particles/all/{name}"]
        return item[piece] if isinstance(item, h5py.Dataset) else (
            item["value"][frame, piece])

    def field_unit(self, name):
        item = self.file[f"particles/all/{name}"]
        if not isinstance(item, h5py.Dataset):
            item = item["value"]
        return self.unit(item, labels.quantity(name))

    def lattice(self, frame):
        """The edges as rows, and where the box begins."""
        group = self.file["particles/all/box"]
        edges = numpy.asarray(group["edges/value"][frame])
        if "lower" in group:  # of a box that follows its particles
            return edges, numpy.asarray(group["lower/value"][frame])
        return edges, numpy.asarray(group.attrs.get("origin", numpy.zeros(3)))

    def box(self, frame):
        """Lengths of the box with right angles that holds each particle once,
        and where it begins; a tilted one has the same volume."""
        edges, origin = self.lattice(frame)
        return numpy.diag(edges), origin

    def periodic(self):
        """For each direction."""
        boundary = self.file["particles/all/box"].attrs["boundary"]
        return [text_of(b) == "periodic" for b in boundary]

    def frame_steps(self):
        return self.file["particles/all/box/edges/step"][:self.frames]

    def frame_times(self):
        return self.file["particles/all/box/edges/time"][:self.frames]

    def length_unit(self):
        return self.unit(self.file["particles/all/box/edges/value"], "length")

    def species_names(self):
        """Names by species number. The description of the field says
        "species: 0 = A, 1 = B"."""
        species = self.file.get("particles/all/species")
        if species is None:
            return []
        found = re.findall(r"(\d+) = ([^,]+)",
                           text_of(species.attrs.get("description", "")))
        names = {int(number): name.strip() for number, name in found}
        most = max((int(species[piece].max(initial=0))
                    for piece in chunks.pieces(species)), default=0)
        n = max([most + 1] + [k + 1 for k in names])
        return [names.get(i, f"species {i}") for i in range(n)]

    def species_counts(self):
        """Names by species number, and how many particles each has."""
        names = self.species_names()
        counts = numpy.zeros(len(names), dtype=numpy.int64)
        species = self.file.get("particles/all/species")
        if species is not None:
            for piece in chunks.pieces(species):
                counts += numpy.bincount(species[piece], minlength=len(names))
        return names, counts

    # ---- probes ----

    @property
    def probes(self):
        """Their names."""
        return list(self.file.get("probes", {}))

    def probe(self, name):
        """Steps, times, and the values of each field."""
        group = self.file[f"probes/{name}"]
        n = min(len(group[k][d]) for k in group
                for d in ("step", "time", "value"))
        first = next(iter(group))
        return (group[f"{first}/step"][:n], group[f"{first}/time"][:n],
                {k: group[f"{k}/value"][:n] for k in group})

    def probe_unit(self, name, field):
        return self.unit(self.file[f"probes/{name}/{field}/value"], "")

    # ---- tables ----

    def tables(self, kind=""):
        """Names of finished tables that begin with `kind`."""
        found = []

        def visit(name, item):
            if isinstance(item, h5py.Group) and any(
                    isinstance(item[k], h5py.Dataset) for k in item):
                found.append(name)

        if "statistics" in self.file:
            self.file["statistics"].visititems(visit)
        return [name for name in found if name.startswith(kind)]

    def table(self, name):
        """Its columns by name."""
        group = self.file[f"statistics/{name}"]
        columns = {k: group[k][()] for k in group}
        return {k: numpy.array([text_of(t) for t in v])
                if v.dtype.kind in "SO" else v for k, v in columns.items()}

    def table_columns(self, name):
        """Names of its columns, with their lengths; nothing is read."""
        group = self.file[f"statistics/{name}"]
        return {k: len(group[k]) for k in group}

    def raw_unit(self, name, column):
        """As the file has it."""
        return text_of(self.file[f"statistics/{name}/{column}"].attrs.get(
            "unit", ""))

    def column_unit(self, name, column, kind=None):
        if kind is None:
            kind = labels.column_kind(name, column)
        return self.unit(self.file[f"statistics/{name}/{column}"], kind)

    # ---- tables of a risk run ----

    def risk_tables(self):
        """Names, as "risk/instruments"."""
        group = self.file.get("risk", {})
        found = [f"risk/{k}" for k in group
                 if isinstance(group[k], h5py.Group) and len(group[k])]
        first = ("risk/portfolio", "risk/instruments", "risk/var")
        return sorted(found, key=lambda n: (
            first.index(n) if n in first else len(first), n))

    def table_rows(self, name):
        """Rows that all its columns have."""
        group = self.file[name]
        return min((len(group[k]) for k in group
                    if isinstance(group[k], h5py.Dataset)), default=0)

    def cells(self, name, most):
        """Heads, and up to `most` rows of Python values; names come first."""
        group, n = self.file[name], min(self.table_rows(name), most)
        heads = [k for k in group if isinstance(group[k], h5py.Dataset)]
        first = ("id", "name", "factor", "type", "level", "quantity", "price",
                 "value")
        heads.sort(key=lambda k: (first.index(k) if k in first
                                  else len(first), ))
        columns = [[text_of(v) if isinstance(v, (bytes, str)) else v
                    for v in group[k][:n].tolist()] for k in heads]
        return heads, [list(row) for row in zip(*columns)]
