# timeout: 120
"""Pictures of risk and of flows by their structure: graphs, titles, labels, scales,
limits, marks. Every graph shows something, and no word is cut off."""

import shutil

import post
import tap

h5py, numpy, _ = tap.need("h5py", "numpy", "matplotlib")
from warpdeck_post import flow_panels, panels, plot  # noqa: E402
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


def structure(figure):
    """(title, label of x, of y, scales, how many marks) of each graph."""
    return [(a.get_title("left"), a.get_xlabel(), a.get_ylabel(),
             a.get_xscale() + " " + a.get_yscale(),
             len(a.lines) + len(a.patches) + len(a.collections)
             + len(a.images)) for a in figure.axes]


def clipped(figure):
    """How far what is drawn reaches beyond the picture, in inches, if more than
    a hundredth."""
    figure.canvas.draw()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    out = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
    return round(out, 3) if out > 0.01 else 0


MONEY = "currency of the spots"
WANT = {
    "profits": [("Profit and loss, with intervals of 95 % (VaR) and 95 % (ES)",
                 f"profit over 0.04 years ({MONEY})", "density of paths",
                 "linear linear")],
    "exposure": [("Netting set bank", "date (years)", f"exposure ({MONEY})",
                  "linear linear")],
    "frontier": [("Efficient frontier",
                  "CVaR 95 % over 0.25 years (% of the money)",
                  "mean return (%)", "linear linear"),
                 ("Weights", "mean return (%)", "weight (%)",
                  "linear linear")],
    "convergence": [("Value of the portfolio", "paths", f"value ({MONEY})",
                     "log linear"),
                    ("Convergence", "paths N", f"standard error ({MONEY})",
                     "log log")],
    "prices": [("Positions", f"value ({MONEY}); bar: 95 % interval", "",
                "linear linear")]}

post.flow()
risk_file()
panels.style(plot.matplotlib)
with Result("risk.h5") as r:
    for name in [*WANT, "overview"]:
        figure = plot.figures_of(r)[name](r)
        plot.head(figure, r)
        got = structure(figure)
        if name in WANT:
            tap.is_([g[:4] for g in got], WANT[name],
                    f"{name}: graphs, words and scales")
        tap.ok(got and all(g[4] > 0 for g in got),
               f"{name}: each graph shows something")
        tap.is_(clipped(figure), 0, f"{name}: no word is cut off")
        if name == "convergence":
            line = figure.axes[1].lines[1].get_ydata()
            tap.ok(numpy.allclose(line, [0.4, 0.2, 0.1]),
                   "the guide falls as one over the root of the paths")
        if name == "frontier":
            tap.is_(figure.axes[1].get_ylim(), (0.0, 100.0),
                    "weights reach from 0 to 100 %")
        plot.pyplot.close(figure)
tap.ok(post.works(post.post("plot", "risk.h5"), "wrote risk.png"),
       "the command draws it")
y = numpy.r_[50.0, numpy.linspace(1, 2, 40)]
tap.is_(panels._settled(y), 1, "a first value that is far out is left out")
tap.is_(panels._settled(y[1:]), 0, "and others are not")
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
tap.done()
