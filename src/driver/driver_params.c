#include "driver/driver_params.h"

#include <stdio.h>
#include <string.h>

#include "base/dimensions.h"
#include "base/param.h"
#include "solvers/solver.h"

enum { POSITIVE = PARAM_HAS_MIN | PARAM_MIN_OPEN };

/* Filled with the names of solvers.def at the first call. */
static char solver_names[256];

static const struct param_section sections[] = {
    {"run", 0, 0, "What is run, and on what."},
    {"domain", 0, 1, "The box and its decomposition over ranks."},
    {"output", 0, 1, "What is written, and how often."},
    {"output.slice", 1, 1,
     "A plane of the grid, written at its own rate, in files of its own."},
    {"output.box", 1, 1,
     "A part of the grid, written at its own rate, in files of its own."},
    {"output.probe", 1, 1, "A point of the flow, as a series over time."},
    {"checkpoint", 0, 1,
     "Saved states to go on from with --resume, NAME.ckpt.0.h5 and so on. One "
     "is also written where a run is stopped; with this section, even an empty "
     "one, also at the end of a run, so that it can be made longer."},
    {"guard", 0, 1,
     "What ends a run whose physics has failed, with exit status 3."},
    {"ensemble", 0, 1,
     "Several runs of the same deck side by side: with other seeds, or at "
     "several temperatures that they exchange."},
    {"monitor", 0, 1,
     "The health of a run: with this section, even an empty one, the log shows "
     "steps a second, imbalance, time for messages, memory, and what power "
     "meters and cards tell; /monitor of NAME.h5 keeps it."},
    {NULL, 0, 0, NULL}};

static const struct param params[] = {
    {"run", "solver", PARAM_STRING, NO_DIM, NULL, 0, 0, 0, PARAM_REQUIRED,
     solver_names, "The solver that runs the deck."},
    {"run", "units", PARAM_STRING, NO_DIM, "\"lj\"", 0, 0, 0, 0,
     "lj|metal|real|si",
     "Unit system of bare numbers, as LAMMPS defines them. lj: reduced. metal: "
     "Angstrom, ps, eV, g/mol, bar. real: Angstrom, fs, kcal/mol, g/mol, atm. "
     "si: m, s, J, kg, Pa."},
    {"run", "device", PARAM_STRING, NO_DIM, "\"auto\"", 0, 0, 0, 0,
     "auto|cpu|cuda",
     "Where the loops run. auto: on a GPU where there is one, this build can "
     "use it, and each rank has enough to do for it, else on the CPU."},
    {"run", "gpu_transfer", PARAM_STRING, NO_DIM, "\"auto\"", 0, 0, 0, 0,
     "auto|direct|staged",
     "How messages between ranks leave the memory of a card. direct: MPI reads "
     "and writes it, which needs a CUDA-aware MPI. staged: through memory of "
     "the host. auto: direct where MPI says it can and a trial message "
     "arrives, else staged. No effect on the CPU."},
    {"run", "seed", PARAM_INT, NO_DIM, "1", 0, 0, 0, PARAM_HAS_MIN, NULL,
     "Seed of all random numbers. The same seed gives the same numbers on any "
     "count of ranks and threads."},
    {"run", "threads", PARAM_INT, NO_DIM, "0", 0, 4096, 0,
     PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "OpenMP threads of each rank. 0: as many as OMP_NUM_THREADS says, or "
     "one."},
    {"run", "title", PARAM_STRING, NO_DIM, "\"\"", 0, 0, 0, 0, NULL,
     "A line of text that is shown and stored with the results."},

    {"domain", "size", PARAM_DOUBLES, LENGTH, NULL, 0, 0, 3,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Edges of the box in x, y, z. May be left out where the initial state "
     "sets "
     "it."},
    {"domain", "ranks", PARAM_INTS, NO_DIM, NULL, 1, 0, 3,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Ranks in x, y, z. Left out: the decomposition with the least surface."},

    {"output", "name", PARAM_STRING, NO_DIM, NULL, 0, 0, 0, PARAM_OPTIONAL,
     NULL,
     "Name of the results, NAME.h5 and NAME.log. Left out: the deck's file "
     "name without .toml."},
    {"output", "observables_every", PARAM_INTERVAL, TIME, "100", 0, 0, 0, 0,
     NULL,
     "How often energies and the like are computed, printed and written. The "
     "first and the last step always are."},
    {"output", "frames_every", PARAM_INTERVAL, TIME, "0", 0, 0, 0, 0, NULL,
     "How often the fields are written. The first and the last step always "
     "are; 0: no others."},
    {"output", "fields", PARAM_STRINGS, NO_DIM, "[\"position\"]", 0, 0, 0, 0,
     NULL,
     "The fields of a frame. Particles have position, velocity, force and "
     "image; a flow has velocity, pressure, vorticity, q_criterion and its "
     "scalars, and the first two where nothing is said."},
    {"output", "frame_precision", PARAM_STRING, NO_DIM, "\"single\"", 0, 0, 0,
     0, "single|double",
     "Precision of fields on a grid in frames, slices and boxes. single: half "
     "the size, with the seven digits that pictures and most statistics need; "
     "runs go on from checkpoints, which are exact. Particles are written in "
     "double."},
    {"output", "staging", PARAM_STRING, NO_DIM, "\"auto\"", 0, 0, 0, 0,
     "auto|on|off",
     "Whether frames are copied and written by a helper thread while the "
     "solver goes on; the files are the same. auto: where MPI lets several "
     "threads in and each rank has a processor to spare. on: also without "
     "that. off: the run waits for its frames."},
    {"output", "staging_memory", PARAM_INT, NO_DIM, "256", 1, 1000000, 0,
     PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "MB that a rank may use for copies of frames that wait to be written. "
     "Where they are used up the run waits; a frame that is larger is written "
     "at once."},

    {"output.slice", "name", PARAM_STRING, NO_DIM, "\"middle\"", 0, 0, 0,
     PARAM_REQUIRED, NULL,
     "Name of the slice; its frames are NAME_<name>_000100.hdf, listed in "
     "NAME_<name>.hdf.series."},
    {"output.slice", "normal", PARAM_STRING, NO_DIM, "\"z\"", 0, 0, 0,
     PARAM_REQUIRED, "x|y|z", "Direction that the slice is normal to."},
    {"output.slice", "position", PARAM_DOUBLE, LENGTH, "0.5", 0, 0, 0,
     PARAM_REQUIRED, NULL,
     "Where it cuts that direction. The plane of cell centers nearest to it is "
     "written, as it is."},
    {"output.slice", "every", PARAM_INTERVAL, TIME, "100", 0, 0, 0, 0, NULL,
     "How often it is written. The first and the last step always are."},
    {"output.slice", "fields", PARAM_STRINGS, NO_DIM, "[\"velocity\"]", 0, 0, 0,
     PARAM_OPTIONAL, NULL, "Its fields. Left out: those of the frames."},

    {"output.box", "name", PARAM_STRING, NO_DIM, "\"corner\"", 0, 0, 0,
     PARAM_REQUIRED, NULL,
     "Name of the box; its frames are NAME_<name>_000100.hdf, listed in "
     "NAME_<name>.hdf.series."},
    {"output.box", "lower", PARAM_DOUBLES, LENGTH, "[0.0, 0.0, 0.0]", 0, 0, 3,
     PARAM_REQUIRED, NULL,
     "Its lower corner. Cells whose centers lie between the corners are "
     "written."},
    {"output.box", "upper", PARAM_DOUBLES, LENGTH, "[0.5, 0.5, 0.5]", 0, 0, 3,
     PARAM_REQUIRED, NULL, "Its upper corner."},
    {"output.box", "every", PARAM_INTERVAL, TIME, "100", 0, 0, 0, 0, NULL,
     "How often it is written. The first and the last step always are."},
    {"output.box", "fields", PARAM_STRINGS, NO_DIM, "[\"velocity\"]", 0, 0, 0,
     PARAM_OPTIONAL, NULL, "Its fields. Left out: those of the frames."},

    {"output.probe", "name", PARAM_STRING, NO_DIM, "\"center\"", 0, 0, 0,
     PARAM_REQUIRED, NULL,
     "Name of the probe; its values stand in NAME.h5 under /probes/<name>."},
    {"output.probe", "position", PARAM_DOUBLES, LENGTH, "[0.5, 0.5, 0.5]", 0, 0,
     3, PARAM_REQUIRED, NULL,
     "Where it is. The values at the eight cell centers around it are "
     "interpolated, linearly in each direction; between a wall and the center "
     "next to it, that center's value counts."},
    {"output.probe", "every", PARAM_INTERVAL, TIME, "10", 0, 0, 0, 0, NULL,
     "How often its values are written. The first and the last step always "
     "are."},
    {"output.probe", "fields", PARAM_STRINGS, NO_DIM, "[\"velocity\"]", 0, 0, 0,
     PARAM_OPTIONAL, NULL, "Its fields. Left out: those of the frames."},

    {"checkpoint", "every", PARAM_INTERVAL, TIME, "\"30 min\"", 0, 0, 0,
     PARAM_WALL, NULL,
     "How often the state is saved, in steps or in wall time. Saving changes "
     "nothing of what is computed."},
    {"checkpoint", "keep", PARAM_INT, NO_DIM, "2", 1, 1000, 0,
     PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "How many saved states are kept; a new one replaces the oldest."},

    {"guard", "every", PARAM_INT, NO_DIM, "100", 0, 0, 0, PARAM_HAS_MIN, NULL,
     "Every so many steps the state is looked through for numbers that are not "
     "finite and for what is missing, and the bounds below are checked. 0: "
     "only before a state is saved."},
    {"guard", "energy_drift", PARAM_DOUBLE, ENERGY, "0.01", 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "How far the total energy (with a thermostat, the conserved one) may "
     "drift from that of the first look, for each particle or cell."},
    {"guard", "temperature", PARAM_DOUBLE, TEMPERATURE, "10.0", 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL, "The highest temperature allowed."},
    {"guard", "divergence", PARAM_DOUBLE, RATE, "1e-6", 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "The greatest divergence that the velocity of a flow may have in a "
     "cell."},

    {"ensemble", "replicas", PARAM_INT, NO_DIM, "1", 1, 9999, 0,
     PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "How many copies of the deck are run, each on a group of the ranks. The "
     "first has run.seed, each further one a seed that is one higher; their "
     "results stand in the folders replica-0000, replica-0001 and so on of the "
     "output folder. With fewer ranks than replicas each rank runs several: "
     "side by side on a card where the solver can, which launches once what "
     "all "
     "of them do, else one after the other."},

    {"ensemble", "temperatures", PARAM_DOUBLES, TEMPERATURE, "[0.7, 0.8]", 0, 0,
     0, PARAM_OPTIONAL | POSITIVE, NULL,
     "Replica exchange: as many replicas as temperatures, each at one of them, "
     "ascending. They advance side by side, and neighbors change their "
     "temperatures where that leaves the distribution at each as it is. "
     "Needs a thermostat; the deck's own temperature is that of the start, "
     "from which velocities are scaled."},
    {"ensemble", "temperature_range", PARAM_DOUBLES, TEMPERATURE, "[0.7, 1.0]",
     0, 0, 2, PARAM_OPTIONAL | POSITIVE, NULL,
     "The same from the lowest and the highest temperature: ensemble.replicas "
     "of them, each by the same factor above the one before."},
    {"ensemble", "exchange_every", PARAM_INT, NO_DIM, "100", 1, 0, 0,
     PARAM_HAS_MIN, NULL,
     "Steps between two attempts of replicas to exchange their temperatures; "
     "every second attempt is for the other pairs of neighbors."},

    {"monitor", "every", PARAM_INTERVAL, TIME, "1000", 0, 0, 0, 0, NULL,
     "How often the health of the run is told and written, in steps or in "
     "simulated time."},
    {"monitor", "powercap", PARAM_STRING, NO_DIM, "\"/sys/class/powercap\"", 0,
     0, 0, 0, NULL,
     "Folder in which Linux shows the energy meters of processors (RAPL), "
     "intel-rapl:0 and so on. Often only root may read them; the power is left "
     "out then."},
    {"monitor", "cards", PARAM_STRING, NO_DIM, "\"auto\"", 0, 0, 0, 0,
     "auto|on|off",
     "Whether NVIDIA's management library is asked for use, memory, "
     "temperature, power and memory errors of the cards of the hosts. auto: "
     "where the run is on cards."},
    {NULL, NULL, PARAM_BOOL, NO_DIM, NULL, 0, 0, 0, 0, NULL, NULL}};

static const struct param_table table = {sections, params, NULL, NULL};

const struct param_table *driver_param_table(void)
{
    size_t used = 0;

    if (solver_names[0] != '\0')
        return &table;
    for (int i = 0; solver_at(i) != NULL && used < sizeof solver_names; i++)
        used +=
            (size_t)snprintf(solver_names + used, sizeof solver_names - used,
                             "%s|", solver_at(i)->name);
    if (used > 0 && used < sizeof solver_names)
        solver_names[used - 1] = '\0'; /* the last bar */
    return &table;
}

const struct param_table *param_table_at(int i, const char **solver,
                                         const char **title)
{
    const struct solver *s = i > 0 ? solver_at(i - 1) : NULL;

    *solver = "";
    *title = "every solver";
    if (i == 0)
        return driver_param_table();
    if (s == NULL)
        return NULL;
    *solver = s->name;
    *title = s->title;
    return s->params;
}
