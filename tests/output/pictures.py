# timeout: 300
"""Pictures of all solvers by their structure, against pictures.json: graphs, titles,
labels, scales, limits, numbers of marks, ranges of colors. Every graph shows
something, and no word is cut off. With WARPDECK_STORE_PICTURES=1 the structures
are stored anew: look at the pictures then."""

import contextlib
import io
import json
import os
import shutil

import post
import tap

h5py, numpy, _ = tap.need("h5py", "numpy", "matplotlib")
from warpdeck_post import (curves, flow_panels, frame, gather,  # noqa: E402
                           labels, md_panels, panels, particles, plot,
                           render, spheres)
from warpdeck_post.result import Result  # noqa: E402


def table(f, name, **columns):
    group = f.require_group(name)
    for key, values in columns.items():
        group[key] = values


def risk_file():
    """Numbers of a known shape in the place of a run's."""
    shutil.copy("flow.h5", "risk.h5")
    with h5py.File("risk.h5", "r+") as f:
        del f["observables"], f["statistics"]
        f["run"].attrs["solver"] = "risk"
        paths = numpy.array([0, 1e4, 4e4, 1.6e5])
        for name, value in (("portfolio_value", [0, 10.5, 10.2, 10.3]),
                            ("standard_error", [0, 0.4, 0.2, 0.1])):
            table(f, f"observables/{name}", step=[0, 1, 2, 3], time=paths,
                  value=value)
        table(f, "risk/instruments", id=[b"call", b"a name that is too long"],
              value=[12.0, -1.7], standard_error=[0.3, 0.1], price=[12., 1.7],
              price_error=[0.3, 0.1])
        edges = numpy.linspace(-4, 4, 81)
        table(f, "risk/profit_histogram", low=edges[:-1], high=edges[1:],
              count=1000 * numpy.exp(-edges[:-1] ** 2 / 2))
        table(f, "risk/var", level=[0.95, 0.99], var=[1.645, 2.326],
              var_low=[1.6, 2.2], var_high=[1.7, 2.4], horizon=[0.04] * 2,
              confidence=[0.95] * 2, expected_shortfall=[2.06, 2.67],
              expected_shortfall_error=[0.01, 0.02])
        table(f, "risk/exposure", set=[b"bank"] * 3, date=[1., 2., 3.],
              epe=[1., 2., 1.], ene=[1., .5, .2], value=[0, 1.5, .8],
              **{k: [.1] * 3 for k in ("epe_error", "ene_error")},
              **{"pfe_0.95": [3., 4., 2.], "pfe_0.99": [5., 6., 3.]})
        table(f, "risk/frontier", cvar=[.03, .06], level=[.95] * 2,
              cvar_error=[.001] * 2, return_error=[.001] * 2,
              horizon=[.25] * 2, cvar_in_sample=[.029, .058],
              return_in_sample=[.01, .02], **{"return": [.01, .02]})
        table(f, "risk/frontier/weight", BONDS=[.8, .1], SHARES=[.2, .9])


def averages():
    """What a run of particles averages, as closed forms; the g(r) of a molecule
    with a bond of 1 and two species of unlike masses."""
    with h5py.File("run.h5", "r+") as f:
        t, x = numpy.linspace(0, 4, 41), numpy.linspace(0.5, 9.5, 10)
        base, c = "statistics/velocity_autocorrelation/", numpy.exp(-t)
        w = numpy.linspace(0, 10, 41)
        table(f, "statistics/displacement/mean_squared", time=t, all=6 * t,
              A=5 * t, B=10 * t)
        table(f, base + "normalized", time=t, all=c, A=c, B=c * c)
        table(f, base + "spectrum", frequency=w, all=4 / (1 + 4 * w * w),
              A=4 / (1 + 4 * w * w), B=2 / (1 + w * w))
        table(f, base + "density_of_states", frequency=w,
              density=2 / (1 + w * w))
        table(f, base + "diffusion", time=t, all=1 - c, A=1 - c,
              B=(1 - c * c) / 2)
        table(f, base + "coefficients", species=[b"all", b"A", b"B"],
              diffusion=[.98, .98, .5], particles=[400., 320., 80.],
              origins=[5.] * 3)
        table(f, "statistics/profile/slabs", z=x, number_density=.7 + .1 * x,
              number_density_A=.5 + 0 * x, number_density_B=.2 + .1 * x,
              temperature=1 + .01 * x, velocity_x=.1 * x, velocity_y=0 * x,
              velocity_z=0 * x, pressure_xx=1 - .1 * x, pressure_yy=1 - .1 * x,
              pressure_zz=1 + 0 * x)
        a, b = numpy.repeat(x, 10), numpy.tile(x, 10)
        table(f, "statistics/map/columns", x=a, z=b, temperature=1 + 0 * a,
              number_density=a + b)
        parts = {k: c for k in ("xy", "xz", "yz", "xx_yy", "yy_zz", "zz_xx")}
        table(f, "statistics/green_kubo/function", time=t, average=c, **parts)
        table(f, "statistics/green_kubo/viscosity", time=t, average=1 - c,
              error=.1 * t, **parts)
        table(f, "statistics/green_kubo/coefficients", viscosity=[.98],
              error=[.4], temperature=[1.])
        for name, s in (("all", 1 - numpy.exp(-w)), ("A-B", -numpy.exp(-w))):
            table(f, "statistics/structure_factor/" + name, k=w, S=s)
        peak = numpy.exp(-((t - 1) * 9) ** 2)
        table(f, "statistics/bond_length/1", r=t, density=peak)
        table(f, "statistics/bond_angle/1", theta=60 * t, density=peak / 60)
        table(f, "statistics/exchange/walk", step=100. * numpy.arange(6),
              rung=[0., 1, 2, 1, 0, 0], temperature=[1., 1.2, 1.5, 1.2, 1, 1])
        table(f, "statistics/exchange/pairs", lower=[1., 1.2],
              upper=[1.2, 1.5], attempts=[3., 2], accepted=[2., 2],
              rate=[2 / 3, 1.])
        table(f, "statistics/exchange/replicas", temperature=[1., 1.2, 1.5])
        g = f["statistics/radial_distribution/A-A/g"]
        r = f["statistics/radial_distribution/A-A/r"][()]
        g[...] = 80 * (abs(r - r[10]) < 1e-9) + (r > r[14]) * (
            1 + numpy.exp(-r) * numpy.sin(6 * r))


def spectra():
    """Of a flow: the inertial range, and its end."""
    k = numpy.arange(1., 65)
    with h5py.File("flow.h5", "r+") as f:
        table(f, "statistics/spectra/x", wavenumber=k,
              u=k ** (-5 / 3) * numpy.exp(-k / 20))


STORED = os.path.join(tap.TOP_SRCDIR, "tests", "output", "pictures.json")
STORE = os.environ.get("WARPDECK_STORE_PICTURES") == "1"


def structure(figure):
    """What each graph has. Of marks: how many, and of lines with how many
    points in all."""
    found = []
    for a in figure.axes:
        shades = [x.get_clim() for x in [*a.collections, *a.images]
                  if x.get_array() is not None and x.get_array().ndim < 3]
        found.append({
            "words": [a.get_title("left"), a.get_xlabel(), a.get_ylabel(),
                      f"{a.get_xscale()} {a.get_yscale()}"],
            "limits": [float(f"{x:.5g}") for x in (*a.get_xlim(),
                                                   *a.get_ylim())],
            "marks": {"lines": len(a.lines), "points": sum(
                len(line.get_xdata()) for line in a.lines),
                "patches": len(a.patches), "images": len(a.images),
                "collections": len(a.collections)},
            "colors": [[float(f"{x:.5g}") for x in c] for c in shades
                       if None not in c]})
    return found


def same(got, want):
    """Whether two structures agree; limits to a thousandth of their span, which
    versions of matplotlib may differ by."""
    if len(got) != len(want):
        return False
    for a, b in zip(got, want):
        if any(a[k] != b[k] for k in ("words", "marks")) or (
                len(a["colors"]) != len(b["colors"])):
            return False
        for x, y in ((a["limits"][:2], b["limits"][:2]),
                     (a["limits"][2:], b["limits"][2:]),
                     *zip(a["colors"], b["colors"])):
            if not numpy.allclose(x, y, rtol=0, atol=1e-3 * max(
                    abs(y[1] - y[0]), 1e-12)):
                return False
    return True


def compare(name, figure, stored):
    """A picture with the stored one; it is complete, and nothing is empty."""
    got = structure(figure)
    if STORE:
        stored[name] = got
    if not tap.ok(same(got, stored.get(name, [])), f"{name}: as stored"):
        tap.note(json.dumps(got))
    tap.ok(got and all(sum(g["marks"].values()) > 0 for g in got) and
           clipped(figure) == 0,
           f"{name}: each graph shows something, and no word is cut off")


def check_solvers(stored):
    """Particles and flows; risk is below."""
    for file, names in (("run.h5", ("overview", "thermo", "rdf", "snapshot",
                                    "msd", "vacf", "profiles", "map",
                                    "structure", "viscosity", "bonds",
                                    "exchange")),
                        ("flow.h5", ("overview", "series", "profiles",
                                     "spectra"))):
        with Result(file) as r:
            for name in names:
                figure = plot.figures_of(r)[name](r)
                plot.head(figure, r)
                compare(f"{r.run['solver']} {name}", figure, stored)
                plot.pyplot.close(figure)
    with frame.Frame("flow_000005.hdf") as f:
        for name, figure in (("flow slice", plot.slice_(f, None, None, None)),
                             ("flow lines", plot.lines(f))):
            plot.head(figure, f)
            compare(name, figure, stored)
            plot.pyplot.close(figure)


def check_renders(stored):
    """Pictures in three dimensions: the box, the picture in it, its colors."""
    plain = render.Wish(plain=True)
    with Result("run.h5") as r:
        compare("md render", render._particles(r, 1, plain), stored)
        compare("md render by speed", render._particles(
            r, 1, render.Wish(plain=True, color="speed")), stored)
    for name, wish in (("surface", {"level": 118.0}), ("volume", {})):
        with frame.Frame("flow_000005.hdf") as f:
            compare("flow render " + name, render._field(f, render.Wish(
                plain=True, field="speed", style=name, **wish)), stored)
    plot.pyplot.close("all")


def clipped(figure):
    """How far what is drawn reaches beyond the picture, in inches, if more than
    a hundredth."""
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    out = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
    return round(out, 3) if out > 0.01 else 0


def look_different(r, name, part, draw, many):
    """Whether a table's columns that begin with `part`, and copies of the last
    one, up to `many`, are drawn in as many ways."""
    table = r.table(name)
    columns = [k for k in table if k.startswith(part)]
    last = columns[-1]
    for k in range(len(columns), many):
        columns.append(f"{part}_copy{k}")
        table[columns[-1]] = table[last]
    r.table, r.column_unit = lambda name: table, lambda *names: ""
    axes = plot.pyplot.figure().add_subplot()
    draw(axes, columns)
    ways = {(x.get_color(), str(x._dash_pattern)) for x in axes.lines
            if not x.get_label().startswith("_")}
    plot.pyplot.close("all")
    return len(ways)


post.quick()
post.particles("run.h5", particles=400, frames=3, rows=41, table=1,
               title="Crystal")
post.flow()
with h5py.File("run.h5", "r+") as file:  # a run with bonds has more energies
    for part, share in ("bond", 0.1), ("pair", 0.9), ("dihedral", 0.0):
        file.copy("observables/potential_energy",
                  f"observables/{part}_energy")
        file[f"observables/{part}_energy/value"][...] *= share
risk_file()
averages()
spectra()
panels.style(plot.matplotlib)
stored = {}
if not STORE:
    with open(STORED, encoding="utf-8") as f:
        stored = json.load(f)
check_solvers(stored)
with Result("run.h5") as r:
    tap.is_(look_different(
        r, md_panels.SLABS, "number_density", lambda axes, columns:
        md_panels.profile(axes, r, "Density", columns, "n", "number_density"),
        20), 20, "densities of twenty species along the slabs are told apart")
tap.is_(len({tuple(panels.area_color(i)) for i in range(21)}), 21,
        "and their colors in pictures, and those of areas")
check_renders(stored)
with Result("risk.h5") as r:
    for name in ("profits", "exposure", "frontier", "convergence", "prices",
                 "series", "overview"):
        figure = plot.figures_of(r)[name](r)
        plot.head(figure, r)
        compare("risk " + name, figure, stored)
        if name == "convergence":
            line = figure.axes[1].lines[1].get_ydata()
            tap.ok(numpy.allclose(line, [0.4, 0.2, 0.1]),
                   "the guide falls as one over the root of the paths")
        if name == "frontier":
            tap.is_(figure.axes[1].get_ylim(), (0.0, 100.0),
                    "weights reach from 0 to 100 %")
        plot.pyplot.close(figure)
if STORE:
    with open(STORED, "w", encoding="utf-8") as out:
        json.dump(stored, out, indent=1, sort_keys=True)
        out.write("\n")
tap.ok(post.works(post.post("plot", "risk.h5"), "wrote risk.png"),
       "the command draws it")
tap.ok(post.works(post.post("gather", ".", "--plot", "step", "complete"),
                  "gathered.png") and
       "no column 'heat'" in post.post("gather", ".", "--plot", "heat",
                                       "step").stderr,
       "a sweep is drawn, one column over another")
heads = ["deck.t", "t [K]", "t [eV]", "p [atm]", "p [bar]", "name"]
rows = [[str(n)] * 6 for n in range(5)]
for k, row in enumerate(rows):  # two runs of one kind of units, three of another
    row[1 + (k < 2)] = row[3 + (k < 2)] = "nan"
    row[5] = "word"
rows[4][0] = ""
tap.is_([(at, [r[0] for r in part]) for at, part in (
    gather._both(heads, rows, names) for names in (("t", "p"), ("p [atm]", "t"),
                                                   ("deck.t", "p")))],
        [((2, 4), ["2", "3", ""]), ((3, 1), ["0", "1"]), ((0, 3), ["0", "1"])],
        "of columns of one name in several units those that most runs have")
tap.is_([labels.drawn(u) for u in ("epsilon/sigma^3", "kcal/mol", "m", "ps-1")],
        [r"$\epsilon/\sigma^3$", "kcal/mol", "m", "ps$^{-1}$"],
        "units of a table are drawn as those of other pictures")
tap.is_(gather._short('"[""a"", ""b""]"'), '["a", "b"]',
        "the screen does not show the quotes of the file")
heads = ["folder"] + [f"a.key.of.some.length{n}" for n in range(30)]
said = io.StringIO()
with contextlib.redirect_stdout(said):
    left_out = gather._print(heads, [["x"] * len(heads)])
tap.ok(max(map(len, said.getvalue().splitlines())) <= gather.LINE and
       left_out == 31 - len(said.getvalue().splitlines()[0].split()),
       "of many columns those are shown that a line has room for")
tap.ok(post.works(post.post("show", "run.h5"), "diffusion B", "0.5 sigma^2/tau",
                  "viscosity", "0.98 ± 0.40 epsilon tau/sigma^3",
                  "(bonded: 80 at r ="), "show has what they say")
tap.ok([labels.uncertain(*pair) for pair in (
    (312.1154, 11.24273), (5467.16, 1147.035), (-3.358523, 0.00177512),
    (0.0402633, 0.00146), (9.96, 0.0), (1.5e12, 2.5e9), (7.0, 0.25))] ==
       [("312", "11"), ("5500", "1100"), ("-3.3585", "0.0018"),
        ("0.0403", "0.0015"), ("9.96", "0"), ("1.5e+12", "2.5e+09"),
        ("7.00", "0.25")],
       "a number is told as far as its error lets one")
shutil.copy("run.h5", "sized.h5")
with h5py.File("sized.h5", "r+") as file:
    del file["run/resolved_deck"]
    file["run/resolved_deck"] = b"[run]\n" + b"".join(
        b'[[md.pair.coefficients]]\nspecies = ["%c", "%c"]\nsigma = %d.0\n'
        % tuple(pair) for pair in (b"AA\4", b"AB\3", b"BB\1"))
sizes = []
for name in "run.h5", "sized.h5":
    with Result(name) as r:
        a, b = particles.radii(r, r.box(0)[0])
        sizes.append(b / a)
tap.ok(numpy.allclose(sizes, [2.5 ** (1 / 6), 0.25]), "spheres are as large as "
       "the deck's sigma makes them, else by mass")
r = numpy.linspace(0.01, 4, 400)
shells = sum(h * numpy.exp(-((r - p) / .03) ** 2) for p, h in (
    (1, 12), (1.41, 3), (1.73, 8), (2, 2.2)))
tap.is_((curves.bonded(shells), curves.bonded(numpy.where(r < .5, 0, 1))), (0, 0),
        "the shells of a crystal, and a liquid, have no bonds")
y = numpy.r_[50.0, numpy.linspace(1, 2, 40)]
tap.is_(panels._settled(y), 1, "a first value that is far out is left out")
tap.is_(panels._settled(y[1:]), 0, "and others are not")
axes = plot.pyplot.figure().add_subplot()
panels._limits(axes, numpy.arange(60.0), numpy.r_[1, 50, numpy.linspace(1, 2, 58)])
tap.is_([(t.get_text(), t.xy[0] > 2 / 59, t.xy[1] > 0.5) for t in axes.texts],
        [("at first up to 50", True, True)],
        "and told beside the first rows: where it is none of the first, too")
plot.pyplot.close("all")
axes = plot.pyplot.figure().add_subplot()
joule = numpy.linspace(-6.7e-21, -6.5e-21, 60)
panels.curve(axes, numpy.arange(60.0) * 1e-13, joule, 0)
panels._limits(axes, numpy.arange(60.0) * 1e-13, joule)
axes.set_ylabel("energy (J per particle)")
axes.set_xlabel("time")
panels.powers(axes.figure)
low, high = axes.get_ylim()
tap.ok(-7e-21 < low < -6.7e-21 and -6.5e-21 < high < -6e-21,
       "numbers of joules fill their graph")
tap.is_((axes.get_ylabel(), axes.get_xlabel()), ("energy ($10^{-21}$ J per "
        "particle)", "time ($10^{-12}$)"), "a power of ten stands with the unit")
tap.ok(not axes.yaxis.offsetText.get_visible(), "and not above the graph, where "
       "the legend is")
tap.is_(labels.sentence("number density H"), "Number density H",
        "a title keeps the names of species")
plot.pyplot.close("all")
told = [(float(x[-1]), unit) for x, unit in (labels.long_times(
    numpy.array([0.0, last]), unit) for last, unit in (
        (9000.0, "fs"), (2e4, "fs"), (3e7, "fs"), (1e5, "ps"), (1e5, "s")))]
tap.is_(told, [(9000.0, "fs"), (20.0, "ps"), (30.0, "ns"), (100.0, "ns"),
               (1e5, "s")], "long times have units in which they are short")
with Result("run.h5") as r:
    slabs = r.table(md_panels.SLABS)
    slabs["number_density"][:2] = 0
    slabs["temperature"][:2] = 0
    r.table = lambda name: slabs
    axes = plot.pyplot.figure().add_subplot()
    md_panels.profile(axes, r, "Temperature", ["temperature"], "temperature",
                      "temperature")
    shown = axes.lines[0].get_ydata()
    tap.ok(numpy.isnan(shown[:3]).all() and (shown[3:] > 1).all() and
           axes.get_xlim() == (0, 10) and len(shown) == 12,
           "slabs without particles have no temperature")
    plot.pyplot.close("all")
with Result("run.h5") as r:
    figure = plot.overview(r)
    figure.draw_without_rendering()
    spans = [a.get_window_extent() for a in figure.axes]
    filled = sum(a.height for a in spans if a.x0 < 0.2 * figure.bbox.width < a.x1)
    tap.below(0.6, filled / figure.bbox.height,
              "the left side of the overview is as full as the right one")
    plot.pyplot.close("all")
with open("points.csv", "w", encoding="utf-8") as out:
    out.write("# y, u_Re100\n0,0\n0.5,0.3\n")
tap.is_(sorted(flow_panels.references("points.csv")), ["u_Re100", "y"],
        "a table of references by its names")
tap.ok(post.works(post.post("plot", "flow.h5", "slice", "--axis", "z"),
                  "wrote flow_slice.png") and
       post.works(post.post("plot", "flow.h5", "lines", "--reference",
                            "points.csv"), "wrote flow_lines.png"),
       "a run's last frame as a slice, and as lines beside points")
tap.ok(post.refused(post.post("plot", "flow.h5", "lines", "--reference",
                              "flow.toml"), "is no table of numbers"),
       "a reference that is none")
# What runs of particles observe in reduced units.
UNITS = {"volume": r"\sigma^3", "density": r"m\,\sigma^{-3}", "box_x": r"\sigma",
         "shear_stress": r"\epsilon/\sigma^3", "deform_work": r"\epsilon",
         "pressure_xy": r"\epsilon/\sigma^3", "wall_force_zhi": r"\epsilon/\sigma",
         "temperature_warm": r"\epsilon/k_\mathrm{B}",
         "thermostat_temperature": r"\epsilon/k_\mathrm{B}",
         "conserved_energy": r"\epsilon", "mean_squared_displacement": r"\sigma^2"}
for name, unit in UNITS.items():
    tap.is_(labels.reduced(labels.quantity(name)), f"${unit}$",
              f"{name} has its unit in a run without units")
tap.ok(labels.quantity("deform_work") != "energy",
       "work is not drawn among the energies of a particle")

EDGES = numpy.array([[5.0, 0, 0], [2, 4, 0], [-1, 1.5, 3]])
inside = particles._inside(numpy.random.default_rng(1).uniform(0, 5, (999, 3)),
                           EDGES)
share = inside @ numpy.linalg.inv(EDGES)
tap.ok(share.min() >= 0 and share.max() < 1,
       "particles are drawn inside a tilted box")
scene = spheres.Scene(EDGES, 100)
near = scene.visible(inside, 0.05)
faces = share[:, scene.rotation[2] @ scene.across > 0]
tap.ok(0 < near.mean() < 0.7 and near[(faces > 0.97).any(axis=1)].all(),
       "those at the faces that are seen are among those that are drawn")
tap.is_((len(scene.lines(False)), len(scene.lines(True))), (3, 9),
        "three edges of a box are behind its particles")
ends = numpy.array(scene.lines(True) + scene.lines(False)).reshape(-1, 2)
tap.ok(numpy.allclose(ends.min(0), scene.low[:2]) and
       numpy.allclose(ends.max(0), scene.high[:2]), "and all edges are drawn")

tap.done()
