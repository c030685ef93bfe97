#include "driver/driver_params.h"

#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "solvers/solver.h"

#define NO_DIM           \
    {                    \
        0, 0, 0, 0, 0, 0 \
    }
#define LENGTH           \
    {                    \
        0, 1, 0, 0, 0, 0 \
    }
#define TIME             \
    {                    \
        0, 0, 1, 0, 0, 0 \
    }

enum { POSITIVE = PARAM_HAS_MIN | PARAM_MIN_OPEN };

/* Filled with the names of solvers.def at the first call; what other versions
 * have follows behind a '-'. */
static char solver_names[256];

static const struct param_section sections[] = {
    {"run", 0, 0, "What is run, and on what."},
    {"domain", 0, 1, "The box and its decomposition over ranks."},
    {"output", 0, 1, "What is written, and how often."},
    {"checkpoint", 0, 1,
     "Saved states to go on from. This version writes none; the section is "
     "understood so that decks need not change."},
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
     "image."},

    {"checkpoint", "every", PARAM_INTERVAL, TIME, "\"30 min\"", 0, 0, 0,
     PARAM_OPTIONAL | PARAM_WALL, NULL,
     "How often the state is saved. No effect in this version, which says so "
     "when a run starts."},
    {"checkpoint", "keep", PARAM_INT, NO_DIM, "2", 1, 0, 0, PARAM_HAS_MIN, NULL,
     "How many saved states are kept. No effect in this version."},
    {NULL, NULL, PARAM_BOOL, NO_DIM, NULL, 0, 0, 0, 0, NULL, NULL}};

static const struct param_table table = {sections, params, NULL};

const struct param_table *driver_param_table(void)
{
    size_t used = 0;

    if (solver_names[0] != '\0')
        return &table;
    for (int i = 0; solver_at(i) != NULL && used < sizeof solver_names; i++)
        used +=
            (size_t)snprintf(solver_names + used, sizeof solver_names - used,
                             "%s|", solver_at(i)->name);
    if (used < sizeof solver_names)
        snprintf(solver_names + used, sizeof solver_names - used, "-risk");
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
