/* md_initial.c: particles at the start, from a lattice or a file. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/rng.h"
#include "md_data.h"

#define KERNEL_FN static inline __attribute__((unused))
#include "kernels/md/wrap.h"

/* Sites of the cubic cells, in units of the cell. They are moved off the cell's
 * corner so that every atom stands well inside the box. */
struct basis {
    int n;
    double offset;
    double site[8][3];
};

static const struct basis bases[] = {
    [MD_SC] = {1, 0.5, {{0, 0, 0}}},
    [MD_BCC] = {2, 0.25, {{0, 0, 0}, {.5, .5, .5}}},
    [MD_FCC] = {4, 0.25, {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}}},
    [MD_DIAMOND] = {8,
                    0.125,
                    {{0, 0, 0},
                     {0, .5, .5},
                     {.5, 0, .5},
                     {.5, .5, 0},
                     {.25, .25, .25},
                     {.25, .75, .75},
                     {.75, .25, .75},
                     {.75, .75, .25}}}};

int64_t md_lattice_sites(const struct md_initial *initial)
{
    return initial->cells[0] * initial->cells[1] * initial->cells[2] *
           bases[initial->lattice].n;
}

int md_list_add(struct ctx *ctx, struct md_list *list,
                const struct md_particle *p)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity + list->capacity / 2 + 1024;
        struct md_particle *grown =
            realloc(list->p, capacity * sizeof *list->p);
        if (!grown)
            return FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles",
                        capacity);
        list->p = grown;
        list->capacity = capacity;
    }
    list->p[list->n++] = *p;
    return 0;
}

void md_wrap(const struct md *md, struct md_particle *p)
{
    double lo[3], length[3];
    for (int d = 0; d < 3; d++) {
        lo[d] = md->open.on[d] ? -0.5 * MD_OPEN_LENGTH : md->box_lo[d];
        length[d] = md->open.on[d] ? MD_OPEN_LENGTH : md->box_length[d];
    }
    wrap_position(p->position, lo, length, md->tilt, p->image);
}

void md_wrap_read(const struct md *md, struct md_particle *p)
{
    int32_t *n = p->image;
    int64_t up = n[1] + (int64_t)md->turns[2] * n[2];
    n[0] = (int32_t)(n[0] + md->turns[0] * up + (int64_t)md->turns[1] * n[2]);
    n[1] = (int32_t)up;
    md_wrap(md, p);
}

/* ---- species of lattice sites ---- */

/* A bijection of [0, 2^(2 * half_bits)) onto itself that looks random: four
 * rounds of a Feistel network with Philox as its round function (Luby and
 * Rackoff 1988). */
static uint64_t shuffle_bits(uint64_t seed, int half_bits, uint64_t value)
{
    uint64_t mask = ((uint64_t)1 << half_bits) - 1;
    uint64_t left = value >> half_bits, right = value & mask;
    for (uint64_t round = 0; round < 4; round++) {
        /* Velocities have step 0 of the stream. */
        struct rng_words w = rng_philox(seed, RNG_VELOCITY, 1 + round, right);
        uint64_t mixed = left ^ (((uint64_t)w.w[0] << 32 | w.w[1]) & mask);
        left = right;
        right = mixed;
    }
    return left << half_bits | right;
}

/* Where site `index` of n stands in a random order of all sites: the order
 * needs no memory and is the same for any number of ranks. Values outside [0,
 * n) walk on along their cycle. */
static int64_t shuffled(uint64_t seed, int64_t n, int64_t index)
{
    int half_bits = 1;
    while (((uint64_t)1 << (2 * half_bits)) < (uint64_t)n)
        half_bits++;
    uint64_t value = (uint64_t)index;
    do
        value = shuffle_bits(seed, half_bits, value);
    while (value >= (uint64_t)n);
    return (int64_t)value;
}

/* Sites of the first s + 1 species: rounded sums, so that all add up to N. */
static int64_t sites_up_to(const struct md *md, int s)
{
    double share = 0;
    if (s == md->n_species - 1)
        return md->n_particles;
    for (int i = 0; i <= s; i++)
        share += md->species[i].fraction;
    return llrint(share * (double)md->n_particles);
}

int md_lattice_species(const struct md *md, int64_t id)
{
    if (md->n_species == 1)
        return 0;
    int64_t place = shuffled(md->seed, md->n_particles, id - 1);
    int s = 0;
    while (s < md->n_species - 1 && place >= sites_up_to(md, s))
        s++;
    return s;
}

void md_lattice_counts(struct md *md)
{
    int64_t below = 0;
    for (int s = 0; s < md->n_species; s++) {
        int64_t up_to = sites_up_to(md, s);
        md->species[s].count = up_to - below;
        below = up_to;
    }
}

/* ---- this rank's sites ---- */

/* The range of cells in direction d that may have sites in this block; of a
 * tilted box, all. */
static void cell_range(const struct md *md, int d, int64_t *first, int64_t *end)
{
    const struct md_initial *init = &md->initial;
    *first = 0;
    *end = init->cells[d];
    if (md->tilted)
        return;
    double from = (md->grid.lo[d] - md->box_lo[d]) / init->spacing[d] - 1.5;
    double to = (md->grid.hi[d] - md->box_lo[d]) / init->spacing[d] + 1.5;
    double cells = (double)init->cells[d];
    *first = (int64_t)floor(fmin(fmax(from, 0), cells));
    *end = (int64_t)ceil(fmin(fmax(to, 0), cells));
}

/* Add the sites of one cell that stand in this rank's block. */
static int add_cell(struct ctx *ctx, const struct md *md, struct md_list *list,
                    int64_t x, int64_t y, int64_t z)
{
    const struct md_initial *init = &md->initial;
    const struct basis *b = &bases[init->lattice];
    int64_t cell[3] = {x, y, z};
    int64_t number = (z * init->cells[1] + y) * init->cells[0] + x;
    for (int i = 0; i < b->n; i++) {
        struct md_particle p = {.id = number * b->n + i + 1};
        for (int d = 0; d < 3; d++)
            p.position[d] =
                md->box_lo[d] + ((double)cell[d] + b->site[i][d] + b->offset) *
                                    init->spacing[d];
        if (md->tilted) {
            md_tilt_place(md, p.position);
            md_wrap(md, &p);
            for (int d = 0; d < 3; d++)
                p.image[d] = 0;
        }
        if (grid_owner(&md->grid, p.position) != md->grid.rank)
            continue;
        p.species = md_lattice_species(md, p.id);
        TRY(md_list_add(ctx, list, &p));
    }
    return 0;
}

static int make_lattice(struct ctx *ctx, const struct md *md,
                        struct md_list *list)
{
    int64_t first[3], end[3];
    for (int d = 0; d < 3; d++)
        cell_range(md, d, &first[d], &end[d]);
    for (int64_t z = first[2]; z < end[2]; z++)
        for (int64_t y = first[1]; y < end[1]; y++)
            for (int64_t x = first[0]; x < end[0]; x++)
                TRY(add_cell(ctx, md, list, x, y, z));
    return 0;
}

/* ---- placing ---- */

static int list_all(struct ctx *ctx, struct md *md, struct md_list *list)
{
    if (md->data)
        TRY(md_data_place(ctx, md, md->data, list, md->topology));
    else if (md->initial.read)
        TRY(md_xyz_read(ctx, md, list));
    else if (md->initial.random)
        TRY(comm_agree(ctx, md_random_place(ctx, md, list)));
    else
        TRY(comm_agree(ctx, make_lattice(ctx, md, list)));
    return 0;
}

int md_list_particles(struct ctx *ctx, struct md *md, struct md_list *list)
{
    md_open_box_swap(md); /* places are those in the box of the start */
    int status = list_all(ctx, md, list);
    md_open_box_swap(md);
    return status;
}

static int make_particles(struct ctx *ctx, struct md *md, struct md_list *list)
{
    TRY(md_list_particles(ctx, md, list));
    int64_t n = (int64_t)list->n;
    TRY(comm_sum_int64(ctx, &n, 1));
    if (n != md->n_particles)
        return FAIL(ctx, STATUS_INTERNAL,
                    "%" PRId64 " particles were placed instead of %" PRId64, n,
                    md->n_particles);
    TRY(md_coulomb_charge(ctx, md, list->p, list->n));
    if (md->initial.has_temperature)
        TRY(md_draw_velocities(ctx, md, list->p, list->n,
                               md->initial.temperature));
    return 0;
}

int md_place_particles(struct ctx *ctx, struct md *md)
{
    struct md_list list = {0};
    int status = make_particles(ctx, md, &list);
    if (status == 0)
        status = comm_agree(ctx, md->k->insert(ctx, md->store, list.p, list.n));
    free(list.p);
    return status;
}
