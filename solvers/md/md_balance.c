#include "md_balance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/halo.h"
#include "domain/state.h"
#include "md.h"
#include "md_ewald.h"

/* Where particles are along a direction is counted in so many slices. */
enum { SLICES = 2048 };

/* No block becomes narrower than this part of an equal share. */
static const double least_share = 0.05;
/* Moves of all faces by less than this part of a block are not made. */
static const double least_move = 0.01;

/* ---- the deck ---- */

static int allocate(struct ctx *ctx, struct md *md)
{
    struct md_balance *b = md->balance = calloc(1, sizeof *b);
    if (!b)
        return FAIL(ctx, STATUS_MEMORY, "no memory for faces of blocks");
    for (int d = 0; d < 3; d++) {
        int n = md->grid.dims[d];
        b->cuts[d] = calloc((size_t)n + 1, sizeof **b->cuts);
        if (!b->cuts[d])
            return FAIL(ctx, STATUS_MEMORY, "no memory for faces of blocks");
        for (int c = 0; c <= n; c++)
            b->cuts[d][c] = (double)c / n;
    }
    return 0;
}

static void use_cuts(struct md *md)
{
    const double *cuts[3];
    for (int d = 0; d < 3; d++)
        cuts[d] = md->balance->cuts[d];
    grid_cut(&md->grid, cuts);
}

int md_balance_read(struct ctx *ctx, struct params *p, struct md *md)
{
    static const char *const keys[] = {"balance_every", "balance_threshold"};
    const char *by = params_string(p, "domain", "balance");
    if (strcmp(by, "off") == 0) {
        for (int i = 0; i < 2; i++)
            params_refuse(p, "domain", keys[i],
                          "domain.%s has no meaning for domain.balance = "
                          "\"off\"",
                          keys[i]);
        return params_finish(ctx, p);
    }
    TRY(comm_agree(ctx, allocate(ctx, md)));
    md->balance->by_time = strcmp(by, "time") == 0;
    md->balance->every = params_int(p, "domain", "balance_every");
    md->balance->threshold = params_double(p, "domain", "balance_threshold");
    use_cuts(md);
    return params_finish(ctx, p);
}

void md_balance_free(struct md *md)
{
    for (int d = 0; d < 3 && md->balance; d++)
        free(md->balance->cuts[d]);
    free(md->balance);
    md->balance = NULL;
}

int md_balance_check(struct ctx *ctx, const struct md *md)
{
    if (md->balance && !md->k->set_box)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "domain.balance is not there on device '%s' yet; use "
                    "device = \"cpu\"",
                    ctx->device->name);
    if (md->balance && md->balance->by_time && md->k->pair_seconds &&
        md->graphs == MD_GRAPHS_ON)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "md.graphs = \"on\" does not go with domain.balance = "
                    "\"time\" on a card: nothing within a graph is timed; "
                    "use \"auto\"");
    return 0;
}

/* ---- how much there is, and where ---- */

/* What pairs and bonds have taken so far, by whoever's clock. */
static double pair_seconds(struct ctx *ctx, const struct md *md)
{
    return md->k->pair_seconds ? md->k->pair_seconds(md->store)
                               : md_force_seconds(ctx, md);
}

/* *ratio: greatest over mean of the ranks' values. */
static int find_ratio(struct ctx *ctx, const struct md *md, double mine,
                      double *ratio)
{
    double greatest = mine, sum = mine;
    TRY(comm_max_double(ctx, &greatest, 1));
    TRY(comm_sum_double(ctx, &sum, 1));
    *ratio = sum > 0 ? greatest * md->grid.size / sum : 1;
    return 0;
}

/* Work along each direction, slice by slice, of all ranks. */
static int count_slices(struct ctx *ctx, const struct md *md, double weight,
                        double (*slices)[SLICES])
{
    struct md_particle *p = NULL;
    size_t n = 0;
    TRY(md_own_particles(ctx, md, &p, &n));
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            double part =
                (p[i].position[d] - md->box_lo[d]) / md->box_length[d];
            int at = (int)(part * SLICES);
            at = part > 0 ? at : 0;
            slices[d][at < SLICES ? at : SLICES - 1] += weight;
        }
    free(p);
    return comm_sum_double(ctx, slices[0], 3 * SLICES);
}

/* ---- new faces of one direction ---- */

/* Where `part` of all work lies below. */
static double quantile(const double *slices, double part)
{
    double sum = 0, below = 0;
    for (int k = 0; k < SLICES; k++)
        sum += slices[k];
    for (int k = 0; k < SLICES; k++) {
        if (below + slices[k] >= part * sum && slices[k] > 0)
            return (k + (part * sum - below) / slices[k]) / SLICES;
        below += slices[k];
    }
    return part;
}

/* Equal shares, no block narrower than `least`. */
static void find_targets(const double *slices, int n, double least,
                         double *target)
{
    target[0] = 0;
    target[n] = 1;
    for (int c = 1; c < n; c++) {
        double low = target[c - 1] + least, high = 1 - (n - c) * least;
        target[c] = fmin(fmax(quantile(slices, (double)c / n), low), high);
    }
}

/* How far a face may go, as part of the box. A particle that has left a tilted
 * box through another face comes back somewhere along the blocks there: whoever
 * has this place now must be within reach of the copies from where its block
 * has gone, in each of three directions. */
static double longest_way(const struct md *md, int d)
{
    double room = 0.5 * (md_halo_radius(md) - md->pair.skin);
    return md->tilted ? room / md->box_length[d] : 1;
}

/* How far all may go there together so that none goes farther than half of the
 * blocks beside it: widths between old and new ones stay between those of both,
 * and a particle comes into a neighboring block at most. */
static double find_step(const double *cuts, const double *target, int n,
                        double longest)
{
    double step = 1;
    for (int c = 1; c < n; c++) {
        double way = fabs(target[c] - cuts[c]);
        double most = 0.5 * fmin(cuts[c] - cuts[c - 1], cuts[c + 1] - cuts[c]);
        most = fmin(most, longest);
        if (way * step > most)
            step = most / way;
    }
    return step;
}

/* *moved = 1 where it is worth the while. Particles may have left their block
 * by half a skin, which must not carry them over the next one. */
static int move_faces(struct ctx *ctx, struct md *md, int d,
                      const double *slices, int *moved)
{
    int n = md->grid.dims[d];
    double *cuts = md->balance->cuts[d], greatest = 0;
    double skin = md->pair.skin / md->box_length[d];
    double least = fmax(2 * skin, least_share / n);
    double *target = malloc(((size_t)n + 1) * sizeof *target);
    if (!target)
        return FAIL(ctx, STATUS_MEMORY, "no memory for faces of blocks");
    find_targets(slices, n, least, target);
    double step = find_step(cuts, target, n, longest_way(md, d));
    for (int c = 1; c < n; c++)
        greatest = fmax(greatest, step * fabs(target[c] - cuts[c]));
    if (grid_narrowest(&md->grid, d) >= 0.999 * least * md->box_length[d] &&
        greatest > least_move / n) {
        for (int c = 1; c < n; c++)
            cuts[c] += step * (target[c] - cuts[c]);
        *moved = 1;
    }
    free(target);
    return 0;
}

/* ---- all that follows the faces ---- */

static int follow(struct ctx *ctx, struct md *md)
{
    struct md_geometry box;
    use_cuts(md);
    halo_set_box(md->halo, &md->grid, &box);
    md->k->set_box(md->store, &box);
    TRY(halo_fit(ctx, md->halo));
    return md->ewald && md->ewald->on_mesh ? md_mesh_open(ctx, md) : 0;
}

static int shift(struct ctx *ctx, struct md *md, double weight)
{
    struct md_balance *b = md->balance;
    double(*slices)[SLICES] = calloc(3, sizeof *slices);
    int moved = 0, status = 0;
    if (!slices)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for faces of blocks");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(count_slices(ctx, md, weight, slices));
    for (int d = 0; d < 3 && status == 0; d++)
        if (md->grid.dims[d] > 1)
            status = move_faces(ctx, md, d, slices[d], &moved);
    TRY_CLEANUP(comm_agree(ctx, status));
    b->moves += moved;
    if (moved)
        status = follow(ctx, md);
cleanup:
    free(slices);
    return status;
}

int md_balance(struct ctx *ctx, struct md *md)
{
    struct md_balance *b = md->balance;
    if (!b || md->grid.size == 1 || b->rebuilds++ % b->every != 0)
        return 0;
    double n = (double)md->k->count(md->store), cost = n, ratio;
    TRY(find_ratio(ctx, md, n, &ratio));
    if (!(b->first > 0))
        b->first = ratio;
    if (b->by_time) {
        double now = pair_seconds(ctx, md);
        cost = fmax(now - b->seconds, 0);
        b->seconds = now;
        TRY(find_ratio(ctx, md, cost, &ratio));
    }
    if (!(ratio > b->threshold))
        return 0;
    int64_t before = b->moves;
    TRY(shift(ctx, md, n > 0 ? cost / n : 0));
    if (b->moves > before)
        log_verbose(ctx->log,
                    "step %" PRId64 ": the busiest rank has %.3f times the "
                    "mean, and faces of blocks are moved",
                    md->step, ratio);
    return 0;
}

/* ---- checkpoints, and what is told ---- */

typedef int (*transfer)(struct ctx *, struct state_io *,
                        const struct state_array *);

static int move_all(struct ctx *ctx, struct md *md, struct state_io *io,
                    transfer move)
{
    static const char *const names[] = {"balance/x", "balance/y", "balance/z"};
    struct md_balance *b = md->balance;
    int64_t counts[2] = {b->rebuilds, b->moves};
    struct state_array numbers =
        state_shared("balance/counts", STATE_INT64, 2, counts);
    struct state_array first =
        state_shared("balance/first", STATE_DOUBLE, 1, &b->first);
    for (int d = 0; d < 3; d++) {
        struct state_array cuts = state_shared(
            names[d], STATE_DOUBLE, md->grid.dims[d] + 1, b->cuts[d]);
        TRY(move(ctx, io, &cuts));
    }
    TRY(move(ctx, io, &first));
    TRY(move(ctx, io, &numbers));
    b->rebuilds = counts[0];
    b->moves = counts[1];
    return 0;
}

int md_balance_save(struct ctx *ctx, struct md *md, struct state_io *io)
{
    return md->balance ? move_all(ctx, md, io, io->put) : 0;
}

int md_balance_restore(struct ctx *ctx, struct md *md, struct state_io *io)
{
    int64_t shape[STATE_RANK_MAX];
    if (!md->balance || !io->same_machine ||
        !io->find(io, "balance/counts", shape))
        return 0;
    TRY(move_all(ctx, md, io, io->get));
    use_cuts(md);
    return 0;
}

int md_balance_note(struct ctx *ctx, const struct md *md, char *text,
                    size_t size)
{
    const struct md_balance *b = md->balance;
    double ratio;
    text[0] = '\0';
    if (!b || md->grid.size == 1)
        return 0;
    TRY(find_ratio(ctx, md, (double)md->k->count(md->store), &ratio));
    snprintf(text, size,
             "faces of blocks moved %" PRId64 " times: a rank has at most "
             "%.3f of the mean particles, %.3f at first",
             b->moves, ratio, b->first > 0 ? b->first : ratio);
    return 0;
}
