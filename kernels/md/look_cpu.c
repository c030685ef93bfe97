/* look_cpu.c: what is looked at now and then: distances of pairs, the closest
 * pair, numbers that are none. Plain loops over the lanes of near clusters.
 */
#include "kernels/md/store_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A pair nearer than the radius: slots, and how i lies from j. */
struct near_pair {
    size_t i, j;
    double r2, d[3];
    int halo; /* j is a copy */
};

typedef void (*pair_fn)(const struct md_store *s, const struct near_pair *p,
                        void *user);

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
            struct near_pair p = {.i = i, .j = j, .halo = halo};
            if (s->id[j] == 0)
                break;
            for (int d = 0; d < 3; d++) {
                p.d[d] = (double)s->pair_x[SLOT(i, d)] +
                         (double)s->shift[shift][d] -
                         (double)s->pair_x[SLOT(j, d)];
                p.r2 += p.d[d] * p.d[d];
            }
            if (p.r2 < v->radius2)
                v->pair(s, &p, v->user);
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

/* All pairs within the radius (below: those with copies from there, too, which
 * the rank there has among its own), one thread after the other: this is rare,
 * and the caller's sums then need no locks. */
static int for_each_pair(struct ctx *ctx, const struct md_store *store,
                         double radius, int below, pair_fn pair, void *user)
{
    /* The search's scratch belongs to the store; its content does not change.
     */
    struct md_store *s = (struct md_store *)(uintptr_t)store;
    struct pair_visit v = {pair, user, radius * radius};
    double reach = radius + 2 * greatest_way(s);
    for (int k = 0; k < s->n_workers; k++)
        if (md_find_candidates(s, &s->workers[k], reach, below, visit_cluster,
                               &v) != 0)
            return FAIL(ctx, STATUS_MEMORY, "no memory to search pairs");
    return 0;
}

struct histogram {
    double bins_per_length;
    int n_bins;
    const int *channel_of;
    uint64_t *counts;
};

static void count_pair(const struct md_store *s, const struct near_pair *p,
                       void *user)
{
    const struct histogram *h = user;
    int channel =
        h->channel_of[s->species[p->i] * s->setup.n_species + s->species[p->j]];
    int bin = (int)(sqrt(p->r2) * h->bins_per_length);
    if (channel >= 0 && bin < h->n_bins)
        h->counts[(size_t)channel * (size_t)h->n_bins + (size_t)bin] +=
            p->halo && !s->setup.half ? 1 : 2;
}

int md_pair_histogram(struct ctx *ctx, const struct md_store *s, double range,
                      int n_bins, const int *channel_of, uint64_t *counts)
{
    struct histogram h = {n_bins / range, n_bins, channel_of, counts};
    return for_each_pair(ctx, s, range, 0, count_pair, &h);
}

struct closest {
    double r2;
    size_t i, j;
    int found;
};

static void keep_closest(const struct md_store *s, const struct near_pair *p,
                         void *user)
{
    struct closest *c = user;
    (void)s;
    if (!c->found || p->r2 < c->r2)
        *c = (struct closest){p->r2, p->i, p->j, 1};
}

int md_closest_pair(struct ctx *ctx, const struct md_store *s, double distance,
                    struct md_close_pair *out)
{
    struct closest c = {0};
    TRY(for_each_pair(ctx, s, distance, 0, keep_closest, &c));
    memset(out, 0, sizeof *out);
    if (c.found) {
        out->found = 1;
        out->id[0] = s->id[c.i];
        out->id[1] = s->id[c.j];
        out->distance = sqrt(c.r2);
    }
    return 0;
}

/* Half of what a pair has to each of its particles; that of a copy is another
 * rank's. */
static void share_virial(const struct md_store *s, const struct near_pair *p,
                         void *user)
{
    double(*virial)[3] = user;
    const struct lj_coeff *c =
        &s->coeff[s->species[p->i] * s->setup.n_species + s->species[p->j]];
    double inv2 = 1 / p->r2, inv6 = inv2 * inv2 * inv2;
    if (!(p->r2 < c->cutoff2))
        return;
    double g = (12 * c->c12 * inv6 - 6 * c->c6) * inv6 * inv2 -
               c->force_shift * sqrt(inv2);
    for (int d = 0; d < 3; d++) {
        double half = 0.5 * g * p->d[d] * p->d[d];
        virial[p->i][d] += half;
        if (!p->halo)
            virial[p->j][d] += half;
    }
}

int md_pair_virial(struct ctx *ctx, const struct md_store *s, double (*out)[3])
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES, n = 0;
    size_t pairs = (size_t)s->setup.n_species * (size_t)s->setup.n_species;
    double longest = 0, (*virial)[3] = calloc(slots + 1, sizeof *virial);
    if (!virial)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu virials", slots);
    for (size_t k = 0; k < pairs; k++)
        longest = fmax(longest, s->coeff[k].cutoff2);
    int status = for_each_pair(ctx, s, sqrt(longest), 1, share_virial, virial);
    for (size_t slot = 0; slot < slots; slot++)
        if (s->id[slot] != 0)
            memcpy(out[n++], virial[slot], sizeof virial[slot]);
    free(virial);
    return status;
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
