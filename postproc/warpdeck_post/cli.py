"""The command line: arguments, and errors in one line."""

import argparse
import os
import sys

from .errors import PostError

EXIT_DIFFERENT, EXIT_ERROR = 1, 2

# The Python that Linux distributions put their packages into, and the word in
# the environment that says it has been turned to.
SYSTEM_PYTHON, AGAIN = "/usr/bin/python3", "WARPDECK_POST_AGAIN"


def _show(args):
    from . import show
    return show.run(args.file, deck=args.deck)


def _plot(args):
    from . import plot
    return plot.run(args.file, args.what, args.output, field=args.field,
                    normal=args.normal, at=args.at, reference=args.reference)


def _export(args):
    from . import export
    return export.run(args.file, args.to, args.output)


def _report(args):
    from . import report
    return report.run(args.file, args.output)


def _render(args):
    from . import render
    return render.run(args.file, args.output, args.frames, field=args.field,
                      color=args.color, style=args.style, level=args.level,
                      azimuth=args.azimuth, elevation=args.elevation,
                      plain=args.plain)


def _watch(args):
    from . import watch
    return watch.run(args.file, args.once, args.every, args.patience)


def _diff(args):
    from . import diff
    return diff.run(args.a, args.b, rtol=args.rtol, atol=args.atol,
                    only=args.only)


def _gather(args):
    from . import gather
    return gather.run(args.folder, args.output, args.plot)


class _Parser(argparse.ArgumentParser):
    """argparse, but with one line for an error."""

    def error(self, message):
        raise PostError(f"{message}; see {self.prog} --help")


def _tolerance(text):
    value = float(text)
    if not value >= 0:
        raise ValueError
    return value


def _seconds(text):
    value = float(text)
    if not value > 0:
        raise ValueError
    return value


def _parser():
    parser = _Parser(prog="warpdeck-post", description="Look at the results of "
                     "Warpdeck. Files of runs that are going on or were killed "
                     "can be read, too.")
    commands = parser.add_subparsers(dest="command", required=True,
                                     metavar="COMMAND")

    show = commands.add_parser("show", help="what is in a file, on one screen")
    show.add_argument("file", metavar="FILE")
    show.add_argument("--deck", action="store_true",
                      help="print the deck as it was written, and nothing else")
    show.set_defaults(run=_show)

    plot = commands.add_parser("plot", help="a picture (default: overview)")
    plot.add_argument("file", metavar="FILE")
    plot.add_argument("what", nargs="?", default="overview",
                      choices=["overview", "thermo", "rdf", "msd", "snapshot",
                               "series", "profiles", "spectra", "slice",
                               "lines", "profits", "exposure", "frontier",
                               "convergence", "prices", "vacf", "map",
                               "structure", "viscosity", "bonds",
                               "exchange"],
                      metavar="WHAT",
                      help="particles: overview, thermo, rdf, msd, snapshot, "
                      "vacf (with its spectrum and integral), profiles, map, "
                      "structure, viscosity, bonds, exchange; "
                      "flows: overview, series, profiles, spectra; of a flow's "
                      "last frame, a frame (.hdf) or the last of a list "
                      "(.hdf.series): slice, lines (through the middle); "
                      "risk: overview, profits, exposure, frontier, "
                      "convergence, prices, series")
    plot.add_argument("--field", metavar="NAME",
                      help="of a slice: a field, or velocity_x and the like "
                      "(default: the first)")
    plot.add_argument("--axis", "--normal", dest="normal", choices=["x", "y", "z"],
                      help="of a slice: the axis that it is normal to (default: "
                      "the direction with the fewest cells)")
    plot.add_argument("--at", type=float, metavar="POSITION",
                      help="where the slice lies; the nearest plane of cells "
                      "is drawn (default: the middle)")
    plot.add_argument("--reference", metavar="TABLE",
                      help="of lines and profiles: points of a table of others, "
                      "columns with names in the line above (CSV: y, u; or as "
                      "Moser, Kim and Mansour's: y+, Umean)")
    plot.add_argument("-o", "--output", metavar="PICTURE",
                      help="default: beside FILE, .png; the ending chooses the "
                      "format (png, pdf, svg, jpg)")
    plot.set_defaults(run=_plot)

    export = commands.add_parser(
        "export", help="frames and series as files of other programs")
    export.add_argument("file", metavar="FILE")
    export.add_argument("--to", choices=["xyz", "lammps", "csv", "vtr",
                                               "npz", "parquet"],
                        help="xyz: all frames of particles, for OVITO, ASE and "
                        "others; lammps: the same as a text dump of LAMMPS; "
                        "csv: the observables, and a file more for "
                        "each table and probe; vtr: a frame of a grid (.hdf) "
                        "or a list of them (.hdf.series) as RectilinearGrid, "
                        "also where it is stretched; npz: all arrays, under "
                        "their names in the file; parquet: observables, "
                        "particles and tables, a file each, or the cells of "
                        "a frame or of all of a list; only this one needs "
                        "the Python module pyarrow (default: what the file "
                        "has)")
    export.add_argument("-o", "--output", metavar="OUT",
                        help="default: beside FILE, with the ending changed")
    export.set_defaults(run=_export)

    report = commands.add_parser(
        "report", help="one page about a run, to keep and to send",
        description="One HTML file with the deck, where it ran, results, "
        "pictures, tables, warnings and performance. It needs no network and "
        "no other file. Warnings and performance come from NAME.log beside "
        "NAME.h5.")
    report.add_argument("file", metavar="FILE")
    report.add_argument("-o", "--output", metavar="PAGE",
                        help="default: beside FILE, .html")
    report.set_defaults(run=_report)

    render = commands.add_parser(
        "render", help="a picture in three dimensions, or a film",
        description="Particles as spheres; of fields the surface where they have "
        "a level, or a cloud. Needs no screen. By VTK where it is installed, "
        "else more slowly without.")
    render.add_argument("file", metavar="FILE",
                        help="particles (.h5), a frame of a flow (.hdf) or the "
                        "list of them (.hdf.series)")
    render.add_argument("--frames", metavar="WHICH",
                        help="a number from 0 on (-1: the last, which is the "
                        "default), all, or first:last:step; several make a "
                        "film")
    render.add_argument("--field", metavar="NAME",
                        help="of a flow: the field whose surface is drawn, "
                        "also vorticity, q_criterion and speed from velocities "
                        "(default: q_criterion)")
    render.add_argument("--color", metavar="NAME",
                        help="the field that colors particles or the surface, "
                        "as in velocity_x, species, speed")
    render.add_argument("--style", choices=["surface", "volume"],
                        default="surface", help="of a field (default: surface)")
    render.add_argument("--level", type=float, metavar="VALUE",
                        help="of the surface (default: one that shows shapes)")
    render.add_argument("--azimuth", type=float, metavar="DEGREES",
                        help="view from this side (default: 28)")
    render.add_argument("--elevation", type=float, metavar="DEGREES",
                        help="and from so far above (default: 20)")
    render.add_argument("--plain", action="store_true",
                        help="without VTK, also where it is installed")
    render.add_argument("-o", "--output", metavar="PICTURE",
                        help="default: beside FILE, _3d.png, or _3d.mp4 of "
                        "several frames (also .gif; another ending: a folder "
                        "of pictures)")
    render.set_defaults(run=_render)

    watch = commands.add_parser(
        "watch", help="a running job: how far, how long still, what it observes",
        description="Shows a run until it ends, and hinders it in no way. "
        "Status 0: complete (or, with --once, running); 1: stalled, or stopped "
        "before its end; 2: trouble.")
    watch.add_argument("file", metavar="FILE")
    watch.add_argument("--once", action="store_true",
                       help="show once and end, for scripts")
    watch.add_argument("--every", type=_seconds, default=2.0, metavar="SECONDS",
                       help="how often to look (default: 2)")
    watch.add_argument("--patience", type=_seconds, metavar="SECONDS",
                       help="a run that writes nothing for so long is stalled "
                       "(default: ten times what a row took, a minute at "
                       "least)")
    watch.set_defaults(run=_watch)

    gather = commands.add_parser(
        "gather", help="a table of the runs of a sweep",
        description="One row for each result file in FOLDER and below: the "
        "keys of the decks that differ, and the means of the observables over "
        "the second half of the run, with the error that blocks of it show.")
    gather.add_argument("folder", metavar="FOLDER")
    gather.add_argument("-o", "--output", metavar="OUT",
                        help="default: gathered.csv in FOLDER")
    gather.add_argument("--plot", nargs=2, metavar=("X", "Y"),
                        help="draw column Y over column X, beside OUT, .png; "
                        "a key's last word and a name without its unit do")
    gather.set_defaults(run=_gather)

    diff = commands.add_parser(
        "diff", help="compare the numbers of two files; status 1: different",
        description="Compare the numbers of two files, dataset by dataset. "
        "Two numbers are equal where |a - b| <= atol + rtol |b|. Status 0: "
        "equal, 1: different, 2: trouble.")
    diff.add_argument("a", metavar="A")
    diff.add_argument("b", metavar="B")
    diff.add_argument("--rtol", type=_tolerance, default=0.0,
                      help="relative tolerance (default: 0)")
    diff.add_argument("--atol", type=_tolerance, default=0.0,
                      help="absolute tolerance (default: 0)")
    diff.add_argument("--only", metavar="NAME", action="append",
                      help="compare only what begins with NAME, as in "
                      "observables or particles/all/position; may be repeated")
    diff.set_defaults(run=_diff)
    return parser


def _give_up_output():
    """What could not be written stays in Python's buffer: at the end of the
    process it would be tried again, and the status be 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _try_other_python(arguments):
    """The first python3 of many shells is one of pyenv or conda, which knows
    nothing of the system's packages: what the system's own Python can do is
    left to that one, once."""
    if (sys.executable == SYSTEM_PYTHON or os.environ.get(AGAIN) or
            not os.access(SYSTEM_PYTHON, os.X_OK)):
        return
    os.environ[AGAIN] = "1"
    program = os.path.abspath(sys.argv[0])
    os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, program, *arguments])


def main(arguments):
    """Returns the exit status."""
    # Before h5py is imported: readers need no lock, and a run that is going on
    # may hold one.
    os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
    try:
        try:
            args = _parser().parse_args(arguments)
            status = args.run(args)
        except SystemExit as end:  # --help has been printed
            status = end.code or 0
        sys.stdout.flush()
        return status
    except PostError as error:
        message = str(error)
    except ImportError as error:
        _try_other_python(arguments)
        message = (f"{sys.executable} has no Python module {error.name} (Debian "
                   "and Ubuntu have it for their own Python: apt install "
                   f"python3-{error.name}; run this by /usr/bin/python3)")
    except BrokenPipeError:  # the reader, such as head, has seen enough
        _give_up_output()
        return 0
    except MemoryError:
        message = "out of memory"
    except OSError as error:
        message = " ".join(str(error).split())
    except KeyboardInterrupt:
        _give_up_output()
        return 130
    _give_up_output()
    print(f"warpdeck-post: {message}", file=sys.stderr)
    return EXIT_ERROR
