/* look_cpu.c: what is looked at now and then: distances of pairs, the closest
 * pair, numbers that are none. Plain loops over the lanes of near clusters.
 */
#include "kernels/md/store_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Called for each pair nearer than the radius: slots, squared distance. */
typedef void (*pair_fn)(const struct md_store *s, size_t i, size_t j, double r2,
                        int halo, void *user);

struct pair_visit {
    pair_fn pair;
    void *user;
    double radius2;
};

static void visit_tile(const struct md_store *s, const struct pair_visit *v,
                       int32_t ci, int32_t cj, int shift, int halo)
{
    int self = ci == cj && shift == SHIFT_NONE;
    for (int a = 0; a < LANES; a++) {
        size_t i = (size_t)ci * (size_t)LANES + (size_t)a;
        if (s->id[i] == 0)
            break;
        for (int b = self ? a + 1 : 0; b < LANES; b++) {
            size_t j = (size_t)cj * (size_t)LANES + (size_t)b;
            double r2 = 0;
            if (s->id[j] == 0)
                break;
            for (int d = 0; d < 3; d++) {
                double dx = (double)s->pair_x[SLOT(i, d)] +
                            (double)s->shift[shift][d] -
                            (double)s->pair_x[SLOT(j, d)];
                r2 += dx * dx;
            }
            if (r2 < v->radius2)
                v->pair(s, i, j, r2, halo, v->user);
        }
    }
}

static int visit_cluster(struct md_store *s, struct md_worker *w, int32_t i,
                         void *user)
{
    const struct pair_visit *v = user;
    visit_tile(s, v, i, i, SHIFT_NONE, 0);
    for (int k = 0; k < BUCKETS; k++) {
        const int32_t *near = w->candidates + (size_t)k * w->cap_candidates;
        int halo = k >= BUCKET_HALO;
        for (int32_t q = 0; q < w->n_candidates[k]; q++)
            visit_tile(s, v, i, near[q], halo ? k - BUCKET_HALO : k, halo);
    }
    return 0;
}

/* How far any particle or copy has moved since the list was built, whose boxes
 * and columns the search uses: from the positions kept for the list. */
static double greatest_way(const struct md_store *s)
{
    size_t clusters = (size_t)s->n_clusters + (size_t)s->n_clusters_halo;
    double greatest = 0;
    for (size_t c = 0; c < clusters; c++)
        for (size_t l = 0; l < (size_t)LANES; l++) {
            double way2 = 0;
            if (s->id[c * (size_t)LANES + l] == 0)
                break;
            for (int d = 0; d < 3; d++) {
                size_t k = CLUSTER(c) + (size_t)d * (size_t)LANES + l;
                double then = (double)s->search[d][c * (size_t)LANES + l] +
                              s->search_middle[d];
                double way = (double)s->pair_x[k] - then;
                way2 += way * way;
            }
            greatest = way2 > greatest ? way2 : greatest;
        }
    return sqrt(greatest);
}

/* All pairs within the radius, one thread after the other: this is rare, and
 * the caller's sums then need no locks. */
static int for_each_pair(struct ctx *ctx, const struct md_store *store,
                         double radius, pair_fn pair, void *user)
{
    /* The search's scratch belongs to the store; its content does not change.
     */
    struct md_store *s = (struct md_store *)(uintptr_t)store;
    struct pair_visit v = {pair, user, radius * radius};
    double reach = radius + 2 * greatest_way(s);
    for (int k = 0; k < s->n_workers; k++)
        if (md_find_candidates(s, &s->workers[k], reach, visit_cluster, &v) !=
            0)
            return FAIL(ctx, STATUS_MEMORY, "no memory to search pairs");
    return 0;
}

struct histogram {
    double bins_per_length;
    int n_bins;
    const int *channel_of;
    uint64_t *counts;
};

static void count_pair(const struct md_store *s, size_t i, size_t j, double r2,
                       int halo, void *user)
{
    const struct histogram *h = user;
    int channel =
        h->channel_of[s->species[i] * s->setup.n_species + s->species[j]];
    int bin = (int)(sqrt(r2) * h->bins_per_length);
    if (channel >= 0 && bin < h->n_bins)
        h->counts[(size_t)channel * (size_t)h->n_bins + (size_t)bin] +=
            halo ? 1 : 2;
}

int md_pair_histogram(struct ctx *ctx, const struct md_store *s, double range,
                      int n_bins, const int *channel_of, uint64_t *counts)
{
    struct histogram h = {n_bins / range, n_bins, channel_of, counts};
    return for_each_pair(ctx, s, range, count_pair, &h);
}

struct closest {
    double r2;
    size_t i, j;
    int found;
};

static void keep_closest(const struct md_store *s, size_t i, size_t j,
                         double r2, int halo, void *user)
{
    struct closest *c = user;
    (void)s;
    (void)halo;
    if (!c->found || r2 < c->r2)
        *c = (struct closest){r2, i, j, 1};
}

int md_closest_pair(struct ctx *ctx, const struct md_store *s, double distance,
                    struct md_close_pair *out)
{
    struct closest c = {0};
    TRY(for_each_pair(ctx, s, distance, keep_closest, &c));
    memset(out, 0, sizeof *out);
    if (c.found) {
        out->found = 1;
        out->id[0] = s->id[c.i];
        out->id[1] = s->id[c.j];
        out->distance = sqrt(c.r2);
    }
    return 0;
}

int md_find_not_finite(const struct md_store *s, struct md_particle *out)
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t slot = 0; slot < slots; slot++) {
        int finite = 1;
        if (s->id[slot] == 0)
            continue;
        for (int d = 0; d < 3; d++) {
            size_t k = SLOT(slot, d);
            finite = finite && isfinite((double)s->x[k]) &&
                     isfinite((double)s->v[k]) && isfinite((double)s->f[k]);
        }
        if (finite)
            continue;
        out->id = s->id[slot];
        out->species = s->species[slot];
        for (int d = 0; d < 3; d++) {
            out->position[d] = (double)s->x[SLOT(slot, d)] + s->state_origin[d];
            out->velocity[d] = (double)s->v[SLOT(slot, d)];
            out->image[d] = s->image[slot][d];
        }
        return 1;
    }
    return 0;
}
