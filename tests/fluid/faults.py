"""Bad decks of flows that read as if they were good; and that no direction is
special: one problem turned in all ways is one result."""

import itertools

import tap

np, h5py = tap.need("numpy", "h5py")

DECK = """
[run]
solver = "fluid"
[domain]
cells = [8, 8, 8]
size = [1.0, 1.0, 1.0]
[fluid]
viscosity = 0.01
steps = 1
[fluid.initial]
profile = "taylor-green"
"""


def write(name, text):
    with open(name + ".toml", "w") as file:
        file.write(text)


def refused(what, words, *settings, errors=1):
    got = tap.warpdeck("check", "deck.toml", *settings, check=False)
    told = " ".join((got.stdout + got.stderr).split())
    good = (got.returncode == 2 and words in told
            and told.count("error: ") == errors)
    tap.ok(good, what)
    if not good:
        tap.note(f"status {got.returncode}: {told}")


def test_decks():
    write("deck", DECK)
    refused("a field that is asked for twice is told",
            "the field 'velocity' stands twice",
            'output.fields=["velocity","velocity"]')
    refused("a factor without stretching is told", "nothing is stretched",
            "fluid.grid.factor=3")
    refused("gravity that acts on nothing is told",
            "none has one", "fluid.gravity=[0,0,-1]")
    refused("cells of wildly different height at the seam of a periodic "
            "direction are refused", "from cell 7 to the next, the first",
            'fluid.grid.stretching="tanh-min"', "fluid.grid.factor=2")
    refused("a fault of both faces is told once", "push through",
            'fluid.boundary.x={type="wall",velocity=[1,0,0]}')
    got = tap.warpdeck("check", "deck.toml", 'fluid.boundary.z="wall"',
                       "fluid.grid.z_faces=[0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,1]",
                       check=False)
    tap.ok(got.returncode == 0,
           "a spacing that changes by exactly the most there may be is good")


def turned(lid, up, around, diffusion):
    """A warm cavity whose lid moves along one direction, turned."""
    name = f"turned_{lid}{up}_{diffusion}"
    cells, size, gravity = [0] * 3, [0.0] * 3, [0.0] * 3
    cells[lid], cells[up], cells[around] = 12, 18, 3
    size[lid], size[up], size[around] = 1.0, 1.5, 0.25
    gravity[up] = -1.0
    speed = [1.0 if d == lid else 0.0 for d in range(3)]
    u, v, w = ("xyz"[d] for d in (lid, up, around))
    write(name, f"""
[run]
solver = "fluid"
[domain]
cells = {cells}
size = {size}
[fluid]
viscosity = 0.01
timestep = 0.01
steps = 10
gravity = {gravity}
diffusion = "{diffusion}"
[fluid.boundary]
{u} = "wall"
{v}_min = "wall"
{v}_max = {{ type = "wall", velocity = {speed} }}
{w} = "periodic"
[fluid.initial]
profile = "rest"
[[fluid.scalar]]
name = "T"
diffusivity = 0.02
expansion = 1.0
value_{v}_min = 1.0
value_{v}_max = 0.0
flux_{u}_min = 0.3
[output]
fields = ["velocity", "pressure", "q_criterion", "T"]
frame_precision = "double"
""")
    tap.warpdeck("run", name + ".toml", "--output", "turned")
    order = (2 - around, 2 - up, 2 - lid)
    with h5py.File(f"turned/{name}_000010.hdf") as file:
        data = file["VTKHDF/PointData"]
        out = [np.transpose(data[k][()], order)
               for k in ("pressure", "q_criterion", "T")]
        velocity = np.transpose(data["velocity"][()], order + (3,))
    return out + [velocity[..., c] for c in (lid, up, around)]


def test_turned():
    for diffusion in ("explicit", "implicit"):
        first, worst = None, 0.0
        for lid, up, around in itertools.permutations(range(3)):
            fields = turned(lid, up, around, diffusion)
            first = first or fields
            for a, b in zip(first, fields):
                worst = max(worst, np.abs(a - b).max()
                            / max(1.0, np.abs(a).max()))
        # Sums go in another order in each direction: round-off, no more.
        tap.ok(worst < 1e-12, "a warm driven cavity turned in all six ways is "
               f"one flow, {diffusion} diffusion")


test_decks()
test_turned()
tap.done()
