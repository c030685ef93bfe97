"""The particles of a frame that a picture shows, read by pieces: where they are,
and the number that colors each."""

import re

import numpy

from . import chunks, frame, labels
from .errors import PostError

COMPONENTS = frame.AXES


class Shade:
    """What colors particles: `values` (None: all alike), `names` of species where
    it is that, and a label."""

    def __init__(self, field, values, names, label):
        self.field, self.values = field, values
        self.names, self.label = names, label


def default_field(r):
    """Species where there are several, else the speed, else None."""
    species = r.file.get("particles/all/species")
    if species is not None and len(r.species_names()) > 1:
        first = None
        for piece in chunks.pieces(species):
            values = species[piece]
            if len(values) and first is None:
                first = values[0]
            if len(values) and (values != first).any():
                return "species"
    return "speed" if "velocity" in r.fields() else None


def _source(r, field):
    """The dataset of a field, whether it changes with time, and which component
    (None: the magnitude of a vector)."""
    base, component = ("velocity" if field == "speed" else field), None
    group = r.file["particles/all"]
    if base not in group or base == "box":
        stem, _, axis = base.rpartition("_")
        if stem not in group or axis not in tuple(COMPONENTS) or stem == "box":
            known = ["speed"] if "velocity" in r.fields() else []
            raise PostError(
                f"'{r.path}' has no field '{field}'; there are " + ", ".join(
                    known + r.fields() + r.fields(constant=True)))
        base, component = stem, COMPONENTS.index(axis)
    changes = base in r.fields()
    data = group[f"{base}/value"] if changes else group[base]
    if component is not None and data.ndim != (3 if changes else 2):
        raise PostError(f"'{base}' has no component {COMPONENTS[component]}")
    return data, changes, base, component


def _of(data, changes, component, frame_, piece):
    values = data[frame_, piece] if changes else data[piece]
    if values.ndim == 2:
        values = values.astype(float)
        values = (numpy.sqrt((values ** 2).sum(axis=1)) if component is None
                  else values[:, component])
    return values


def _sigmas(r, names):
    """Of the forces between particles of each species, where the deck has them
    for all; else None."""
    found = dict.fromkeys(names, 0.0)
    for pair in r.deck_tables("md.pair.coefficients"):
        first, *others = re.findall(r'"([^"]*)"', pair.get("species", "")) or [""]
        if first in found and others == [first]:
            try:
                found[first] = float(pair.get("sigma", "0").split("#")[0])
            except ValueError:
                return None
    sizes = numpy.array(list(found.values()))
    return sizes if (sizes > 0).all() else None


def _masses(r):
    """Of the first particle of each species; 0 where that is not known."""
    names = r.species_names()
    masses = numpy.zeros(len(names))
    group = r.file.get("particles/all", {})
    if not {"species", "mass"} <= set(group) or (
            len(group["mass"].shape) != 1):
        return masses
    for piece in chunks.pieces(group["species"]):
        kinds, first = numpy.unique(group["species"][piece],
                                    return_index=True)
        here = group["mass"][piece][first]
        new = masses[kinds] == 0
        masses[kinds[new]] = here[new]
        if (masses > 0).all():
            break
    return masses


def radii(r, edges):
    """Of the spheres of each species, so that they nearly touch in a liquid; in
    a reduced gas no larger than an atom. Species are as large to each other as
    their forces make them (sigma), else by mass: atoms that are 16 times as
    heavy are about 1.6 times as wide."""
    spacing = (edges.prod() / max(r.particle_count, 1)) ** (1.0 / 3.0)
    names, counts = r.species_counts()
    sizes = numpy.ones(max(len(names), 1))
    if len(names) > 1:
        sigmas, masses = _sigmas(r, names), _masses(r)
        if sigmas is not None:
            sizes = sigmas / sigmas.max()
        elif (masses > 0).all():
            sizes = (masses / masses.max()) ** (1.0 / 6.0)
    share = counts / max(counts.sum(), 1) if counts.sum() else 1.0 / len(sizes)
    largest = 0.52 * spacing / (share * sizes ** 3).sum() ** (1.0 / 3.0)
    return sizes * (min(largest, 0.56) if r.reduced else largest)


def _inside(position, edges):
    """The images [n][3] inside a box of `edges`, vectors as rows, from 0 on."""
    share = position @ numpy.linalg.inv(edges)
    return position - numpy.floor(share) @ edges


def gather(r, frame_, scene, size, field):
    """Positions [n][3] in the box, from 0 on, and radii [n] of what can be seen,
    and the Shade by `field`; size: radii by species."""
    source = _source(r, field) if field else None
    edges, origin = r.lattice(frame_)
    found, values, kinds = [numpy.empty((0, 3), "f4")], [], []
    radius = float(size.max())
    dense = scene.is_dense(r.particle_count, float(size.min()))
    dataset = r.file["particles/all/position/value"]
    for piece in chunks.pieces(dataset, axis=1):
        position = _inside(dataset[frame_, piece] - origin, edges)
        keep = scene.visible(position, radius) if dense else slice(None)
        found.append(position[keep].astype("f4"))
        if len(size) > 1:
            kinds.append(r.field_piece("species", frame_, piece)[keep])
        if source:
            values.append(_of(source[0], source[1], source[3], frame_,
                              piece)[keep])
    names = r.species_names() if field == "species" else None
    label = ""
    if source:
        title = field.replace("_", " ")
        label = labels.axis(title, r.field_unit(source[2]))
    found = numpy.concatenate(found)
    radius = size[numpy.concatenate(kinds)] if kinds else numpy.full(
        len(found), radius)
    return found, radius, Shade(
        field, numpy.concatenate(values) if values else None, names, label)
