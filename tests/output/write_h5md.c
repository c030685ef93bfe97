/* write_h5md: a small run without physics, written through src/io, so that the
 * tests of files and of post-processing know every number in them.
 *
 *     write_h5md FILE [name=value ...]
 *
 * Row i (from 0) of frame t has position p(i, t) as in position_of(); ids are
 * i + 1. The particles are handed to particles_by_id() in a scattered order, as
 * a solver does it. Exit status: that of the first error.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/field.h"
#include "domain/particles.h"
#include "io/h5.h"
#include "io/h5md.h"
#include "kernels/md/md_kernels.h"

struct options {
    const char *path, *units, *title;
    long long particles, frames, rows, deck_bytes, kill_after;
    long long velocity, force, image, finish, table, overwrite;
    long long resume; /* the frame to go on from; -1: a new file */
};

static const char *value_of(const char *arg, const char *name)
{
    size_t n = strlen(name);

    return strncmp(arg, name, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static int read_options(int argc, char **argv, struct options *o)
{
    struct {
        const char *name;
        long long *number;
    } numbers[] = {
        {"particles", &o->particles},
        {"frames", &o->frames},
        {"rows", &o->rows},
        {"deck_bytes", &o->deck_bytes},
        {"velocity", &o->velocity},
        {"force", &o->force},
        {"image", &o->image},
        {"finish", &o->finish},
        {"table", &o->table},
        {"overwrite", &o->overwrite},
        {"kill_after", &o->kill_after},
        {"resume", &o->resume},
    };

    if (argc < 2)
        return -1;
    o->path = argv[1];
    for (int a = 2; a < argc; a++) {
        int known = 0;

        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            if (value_of(argv[a], numbers[i].name) != NULL) {
                *numbers[i].number = atoll(value_of(argv[a], numbers[i].name));
                known = 1;
            }
        if (value_of(argv[a], "units") != NULL)
            o->units = value_of(argv[a], "units");
        else if (value_of(argv[a], "title") != NULL)
            o->title = value_of(argv[a], "title");
        else if (!known)
            return -1;
    }
    return 0;
}

/* ---- known numbers ---- */

static int64_t cells_of(int64_t n)
{
    int64_t cells = 1;

    while (4 * cells * cells * cells < n)
        cells++;
    return cells;
}

static double edge_of(int64_t n)
{
    return 1.6796 * (double)cells_of(n);
}

/* A cheap number in [-1, 1) that depends on all arguments. */
static double scatter(int64_t row, int d, int64_t salt)
{
    uint64_t x = (uint64_t)row * 0x9E3779B97F4A7C15u +
                 (uint64_t)(d + 1) * 0xBF58476D1CE4E5B9u +
                 (uint64_t)(salt + 1) * 0x94D049BB133111EBu;

    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 32;
    return (double)(x >> 11) / (double)(UINT64_C(1) << 52) - 1.0;
}

/* An fcc crystal that loosens with the frames. */
static double position_of(int64_t n, int64_t row, int64_t frame, int d)
{
    static const double basis[4][3] = {{0.25, 0.25, 0.25},
                                       {0.75, 0.75, 0.25},
                                       {0.75, 0.25, 0.75},
                                       {0.25, 0.75, 0.75}};
    int64_t cells = cells_of(n), cell = row / 4;
    int64_t at[3] = {cell % cells, cell / cells % cells, cell / cells / cells};
    double spread = 0.25 * (1.0 - exp(-0.5 * (double)frame));
    double edge = edge_of(n);
    double x = 1.6796 * ((double)at[d] + basis[row % 4][d]) +
               spread * (scatter(row, d, 0) + scatter(row, d, frame));

    return x - edge * floor(x / edge);
}

static double velocity_of(int64_t row, int64_t frame, int d)
{
    return scatter(row, d, 3 * frame + 1) + scatter(row, d, 3 * frame + 2) +
           scatter(row, d, 3 * frame + 3);
}

static void observe(int64_t n, int64_t row, double *values)
{
    double t = 0.02 * (double)row, count = (double)n;
    double heat = 0.72 + 0.72 * exp(-3.0 * t) + 0.01 * scatter(row, 0, 9);

    values[0] = heat;
    values[1] = 0.5 - 5.5197 * exp(-4.0 * t) + 0.05 * scatter(row, 1, 9);
    values[2] = count * (-4.62 - 1.5 * heat);
    values[3] = count * 1.5 * heat;
    values[4] = values[2] + values[3] + 1e-5 * count * scatter(row, 2, 9);
}

/* ---- the run ---- */

enum { N_OBSERVABLES = 5, MAX_FIELDS = 7 };

struct run {
    struct options o;
    struct h5md *file;
    struct md_particle *own;
    double (*own_force)[3];
    size_t n_own;
    const char *length, *time, *velocity, *force, *energy, *temperature,
        *pressure, *mass;
};

static void choose_units(struct run *run)
{
    run->length = run->time = run->velocity = run->force = "";
    run->energy = run->temperature = run->pressure = run->mass = "";
    if (strcmp(run->o.units, "lj") == 0)
        return;
    run->length = "Angstrom";
    run->temperature = "K";
    run->mass = "g/mol";
    run->time = "fs";
    run->velocity = "Angstrom fs-1";
    run->force = "kcal mol-1 Angstrom-1";
    run->energy = "kcal/mol";
    run->pressure = "atm";
    if (strcmp(run->o.units, "metal") != 0)
        return;
    run->time = "ps";
    run->velocity = "Angstrom ps-1";
    run->force = "eV Angstrom-1"; /* MDAnalysis does not know it */
    run->energy = "eV";
    run->pressure = "bar";
}

/* This rank's particles: every size-th, from the last to the first. */
static int make_own(struct ctx *ctx, struct run *run)
{
    int64_t n = run->o.particles, size = comm_size(ctx->comm);
    int64_t rank = comm_rank(ctx->comm);

    run->n_own = (size_t)(n / size + (rank < n % size));
    if (run->n_own == 0)
        return 0; /* arrays stay NULL, as a rank without particles may have */
    run->own = calloc(run->n_own, sizeof *run->own);
    run->own_force = calloc(run->n_own, sizeof *run->own_force);
    if (run->own == NULL || run->own_force == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < run->n_own; i++)
        run->own[run->n_own - 1 - i].id = (int64_t)i * size + rank + 1;
    return 0;
}

static void move_own(struct run *run, int64_t frame)
{
    for (size_t i = 0; i < run->n_own; i++) {
        struct md_particle *p = &run->own[i];
        int64_t row = p->id - 1;

        for (int d = 0; d < 3; d++) {
            p->position[d] = position_of(run->o.particles, row, frame, d);
            p->velocity[d] = velocity_of(row, frame, d);
            p->image[d] = (int32_t)(row % 3) - 1;
            run->own_force[i][d] = (double)row + 0.25 * d + (double)frame;
        }
        p->species = row % 5 == 0;
    }
}

/* The rows of a frame, a component of the record after the other. */
struct columns {
    double *position, *velocity, *force, *mass;
    int32_t *image, *species;
    int64_t *id;
};

static int split_rows(struct ctx *ctx, const struct md_particle *rows,
                      double (*force)[3], int64_t n, struct columns *c)
{
    size_t some = (size_t)n + 1;

    c->position = calloc(3 * some, sizeof *c->position);
    c->velocity = calloc(3 * some, sizeof *c->velocity);
    c->force = calloc(3 * some, sizeof *c->force);
    c->mass = calloc(some, sizeof *c->mass);
    c->image = calloc(3 * some, sizeof *c->image);
    c->species = calloc(some, sizeof *c->species);
    c->id = calloc(some, sizeof *c->id);
    if (!c->position || !c->velocity || !c->force || !c->mass || !c->image ||
        !c->species || !c->id)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) {
            c->position[3 * i + d] = rows[i].position[d];
            c->velocity[3 * i + d] = rows[i].velocity[d];
            c->image[3 * i + d] = rows[i].image[d];
            c->force[3 * i + d] = force != NULL ? force[i][d] : 0.0;
        }
        c->id[i] = rows[i].id;
        c->species[i] = rows[i].species;
        c->mass[i] = rows[i].species == 0 ? 1.0 : 2.5;
    }
    return 0;
}

static void free_columns(struct columns *c)
{
    free(c->position);
    free(c->velocity);
    free(c->force);
    free(c->mass);
    free(c->image);
    free(c->species);
    free(c->id);
}

static int describe_fields(const struct run *run, const struct columns *c,
                           int64_t first, int64_t n, struct field *fields)
{
    int64_t total = run->o.particles;
    int k = 0;

    fields[k++] =
        (struct field){"position", run->length, "positions", FIELD_DOUBLE, 3, 0,
                       total,      first,       n,           c->position};
    if (run->o.velocity)
        fields[k++] = (struct field){"velocity",
                                     run->velocity,
                                     "velocities",
                                     FIELD_DOUBLE,
                                     3,
                                     0,
                                     total,
                                     first,
                                     n,
                                     c->velocity};
    if (run->o.force)
        fields[k++] = (struct field){
            "force", run->force, "total forces", FIELD_DOUBLE, 3, 0, total,
            first,   n,          c->force};
    if (run->o.image)
        fields[k++] = (struct field){
            "image", "",    "boxes crossed", FIELD_INT32, 3,
            0,       total, first,           n,           c->image};
    fields[k++] = (struct field){
        "id", "",   "particle ids, 1 to N", FIELD_INT64, 1, 1, total, first,
        n,    c->id};
    fields[k++] = (struct field){"species",   "",    "species: 0 = A, 1 = B",
                                 FIELD_INT32, 1,     1,
                                 total,       first, n,
                                 c->species};
    fields[k++] =
        (struct field){"mass", run->mass, "masses", FIELD_DOUBLE, 1, 1,
                       total,  first,     n,        c->mass};
    return k;
}

static int write_frame(struct ctx *ctx, struct run *run, int64_t t)
{
    struct md_particle *rows = NULL;
    double(*force)[3] = NULL;
    struct columns c = {0};
    struct field fields[MAX_FIELDS];
    double edge = edge_of(run->o.particles);
    struct field_frame frame = {.step = 10 * t,
                                .time = 0.05 * (double)t,
                                .time_unit = run->time,
                                .length_unit = run->length,
                                .box_edges = {edge, edge, edge},
                                .periodic = {1, 1, 1},
                                .fields = fields};
    int64_t first, n;
    int status;

    move_own(run, t);
    particles_slab(run->o.particles, comm_rank(ctx->comm), comm_size(ctx->comm),
                   &first, &n);
    TRY_CLEANUP(particles_by_id(ctx, run->o.particles, run->own,
                                run->o.force ? run->own_force : NULL,
                                run->n_own, &rows, &force));
    TRY_CLEANUP(comm_agree(ctx, split_rows(ctx, rows, force, n, &c)));
    frame.n_fields = describe_fields(run, &c, first, n, fields);
    TRY_CLEANUP(h5md_write_frame(ctx, run->file, &frame));
cleanup:
    free_columns(&c);
    free(rows);
    free(force);
    return status;
}

static double shell(double r, double at, double height, double width)
{
    return height * exp(-(r - at) * (r - at) / (2.0 * width * width));
}

static int write_table(struct ctx *ctx, struct run *run)
{
    enum { BINS = 100 };
    static double r[BINS], g[BINS];
    const double *columns[2] = {r, g};
    const char *const names[2] = {"r", "g"};
    const char *const units[2] = {run->length, ""};
    struct result_table table = {.group = "radial_distribution/A-A",
                                 .description = "radial distribution function",
                                 .n_columns = 2,
                                 .n_rows = BINS,
                                 .names = names,
                                 .units = units,
                                 .columns = columns};

    for (int i = 0; i < BINS; i++) {
        r[i] = 2.5 * (i + 0.5) / BINS;
        g[i] = r[i] < 0.9 ? 0.0
                          : 1.0 - exp(-30.0 * (r[i] - 0.9)) +
                                shell(r[i], 1.09, 1.7, 0.08) -
                                shell(r[i], 1.5, 0.4, 0.2) +
                                shell(r[i], 2.05, 0.25, 0.15);
    }
    return h5md_write_tables(ctx, run->file, 1, &table);
}

static int run_all(struct ctx *ctx, struct run *run)
{
    const struct options *o = &run->o;
    int64_t rows = o->rows > o->frames ? o->rows : o->frames;

    for (int64_t t = o->resume + 1; t < rows; t++) {
        double values[N_OBSERVABLES];

        observe(o->particles, t, values);
        TRY(h5md_write_observables(ctx, run->file, 10 * t, 0.05 * (double)t,
                                   values));
        if (t < o->frames)
            TRY(write_frame(ctx, run, t));
        if (o->kill_after > 0 && h5md_frames(run->file) == o->kill_after)
            raise(SIGKILL);
    }
    return o->table ? write_table(ctx, run) : 0;
}

static int create(struct ctx *ctx, struct run *run, char *deck)
{
    const struct observable observables[N_OBSERVABLES] = {
        {"temperature", run->temperature, "kinetic temperature", "T", 0, 4},
        {"pressure", run->pressure, "pressure", "P", 0, 4},
        {"potential_energy", run->energy, "potential energy of all particles",
         "U/N", 1, 6},
        {"kinetic_energy", run->energy, "kinetic energy of all particles", NULL,
         0, 6},
        {"total_energy", run->energy, "potential + kinetic energy", "E/N", 1,
         6},
    };
    static const char text[] = "[run]\nsolver = \"md\"\n\n[md]\nsteps = 100\n";
    size_t size = sizeof text - 1;
    const struct provenance from = {
        .solver = "md",
        .title = run->o.title,
        .deck_path = "inputs/md/test.toml",
        .deck = deck,
        .deck_size = (size_t)run->o.deck_bytes,
        .resolved = text,
        .resolved_size = size,
        .version = "0.1.0",
        .git = "0123abc",
        .flags = "-O3",
        .libraries = h5md_library_version(),
        .device = "cpu",
        .precision = "double",
        .units = run->o.units,
        .command = "warpdeck run inputs/md/test.toml",
        .host = "here",
        .ranks = comm_size(ctx->comm),
        .threads = 1,
        .decomposition = {comm_size(ctx->comm), 1, 1}};

    memset(deck, '#', from.deck_size);
    memcpy(deck, text, from.deck_size < size ? from.deck_size : size);
    if (run->o.resume >= 0)
        return h5md_reopen(
            ctx, run->o.path,
            (struct h5md_keep){10 * run->o.resume, 10 * run->o.resume,
                               10 * run->o.resume},
            &from, N_OBSERVABLES, observables, run->time, &run->file);
    return h5md_create(ctx, run->o.path, run->o.overwrite != 0, &from,
                       N_OBSERVABLES, observables, run->time, &run->file);
}

static int work(struct ctx *ctx, struct run *run)
{
    char *deck = malloc((size_t)run->o.deck_bytes + 1);
    int status;

    TRY_CLEANUP(comm_agree(
        ctx, deck == NULL ? FAIL(ctx, STATUS_MEMORY, "out of memory") : 0));
    TRY_CLEANUP(comm_agree(ctx, make_own(ctx, run)));
    TRY_CLEANUP(create(ctx, run, deck));
    status = run_all(ctx, run);
    if (status == 0)
        status = h5md_close(ctx, run->file, run->o.finish != 0);
    else
        h5md_abandon(run->file);
cleanup:
    free(deck);
    free(run->own);
    free(run->own_force);
    return status;
}

int main(int argc, char **argv)
{
    static struct ctx ctx;
    struct run run = {.o = {.units = "lj",
                            .title = "",
                            .particles = 4,
                            .frames = 2,
                            .deck_bytes = 40,
                            .velocity = 1,
                            .finish = 1,
                            .resume = -1}};
    int status;

    if (comm_start(&argc, &argv, &ctx.comm) != 0)
        return 1;
    if (read_options(argc, argv, &run.o) != 0) {
        fprintf(stderr, "usage: write_h5md FILE [name=value ...]\n");
        comm_finish(ctx.comm);
        return 2;
    }
    choose_units(&run);
    status = work(&ctx, &run);
    if (status != 0 && comm_rank(ctx.comm) == 0)
        fprintf(stderr, "error: %s", ctx.error.text);
    comm_finish(ctx.comm);
    return status_exit(status);
}
