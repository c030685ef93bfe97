"""The particles of a frame that a picture shows, read by pieces: where they are,
and the number that colors each."""

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


def gather(r, frame_, scene, radius, field):
    """Positions [n][3] in the box, from 0 on, of what can be seen, and the Shade
    by `field`."""
    source = _source(r, field) if field else None
    edges, origin = r.box(frame_)
    found, values = [numpy.empty((0, 3), "f4")], []
    dense = scene.is_dense(r.particle_count, radius)
    dataset = r.file["particles/all/position/value"]
    for piece in chunks.pieces(dataset, axis=1):
        position = (dataset[frame_, piece] - origin) % edges
        keep = scene.visible(position, radius) if dense else slice(None)
        found.append(position[keep].astype("f4"))
        if source:
            values.append(_of(source[0], source[1], source[3], frame_,
                              piece)[keep])
    names = r.species_names() if field == "species" else None
    label = ""
    if source:
        title = field.replace("_", " ")
        label = labels.axis(title, r.field_unit(source[2]))
    return numpy.concatenate(found), Shade(
        field, numpy.concatenate(values) if values else None, names, label)
