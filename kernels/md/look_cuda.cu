/* look_cuda.cu: what is looked at now and then. */
#include "kernels/md/store_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same cells, searched as far as another radius needs. Particles may have
 * moved since they were put into cells, at most by the list's radius: beyond
 * that the run has ended. */
static struct cell_grid cells_for(const struct md_store *s, double radius)
{
    struct cell_grid g = s->cells;
    const double *length = s->setup.box_length, *tilt = s->setup.tilt;
    /* b and c are where the shear has brought them. */
    g.lean[0] = (tilt[0] - s->cell_tilt[0]) / length[1];
    g.lean[1] =
        (tilt[1] - s->cell_tilt[1] - g.lean[0] * s->cell_tilt[2]) / length[2];
    g.lean[2] = (tilt[2] - s->cell_tilt[2]) / length[2];
    radius *= 1 + fabs(g.lean[0]) + fabs(g.lean[1]) + fabs(g.lean[2]);
    for (int d = 0; d < 3; d++) {
        g.corner[d] = s->setup.box_lo[d] - s->view.origin[d];
        g.reach[d] = (int)ceil((radius + s->setup.list_radius) * g.per_side[d]);
    }
    return g;
}

static __global__ void count_distances(struct md_view m, struct cell_grid g,
                                       const uint32_t *start, uint32_t base,
                                       scalar range, int n_bins,
                                       const int *channel_of,
                                       unsigned long long *counts)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    const int *channels = channel_of + m.pair[i].species * m.n_species;
    double bins_per_length = n_bins / (double)range;
    for_each_near(
        m, g, start, base, i, range * range, [&](uint32_t j, scalar r2) {
            int channel = channels[m.pair[j].species];
            int bin = (int)(sqrt((double)r2) * bins_per_length);
            if (channel >= 0 && bin < n_bins)
                atomicAdd(&counts[(size_t)channel * n_bins + bin], 1ull);
        });
}

static int count_kind(struct ctx *ctx, struct md_store *s, double range,
                      int n_bins, int halo)
{
    LAUNCH(count_distances, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS,
           0, s->device->stream, s->view, cells_for(s, range),
           ARRAY(s, halo ? ARRAY_START_HALO : ARRAY_START_OWN, uint32_t),
           halo ? s->view.n_own : 0, (scalar)range, n_bins,
           ARRAY(s, ARRAY_CHANNEL_OF, int),
           ARRAY(s, ARRAY_HISTOGRAM, unsigned long long));
    CUDA_TRY_LAUNCH(ctx, "count_distances");
    return 0;
}

int cuda_pair_histogram(struct ctx *ctx, const struct md_store *store,
                        double range, int n_bins, const int *channel_of,
                        uint64_t *counts)
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    int n_species = s->setup.n_species, channels = 0;
    size_t pairs = (size_t)(n_species * n_species);
    if (s->view.n_own == 0)
        return 0;
    for (size_t k = 0; k < pairs; k++)
        channels = channel_of[k] >= channels ? channel_of[k] + 1 : channels;
    size_t n = (size_t)channels * (size_t)n_bins;
    TRY(cuda_reserve(s, ARRAY_CHANNEL_OF, pairs, sizeof(int), "histograms"));
    TRY(cuda_reserve(s, ARRAY_HISTOGRAM, n, sizeof(uint64_t), "histograms"));
    TRY(cuda_to_device(ctx, s->device, s->array[ARRAY_CHANNEL_OF].p, channel_of,
                       pairs * sizeof(int)));
    CUDA_TRY(ctx, cudaMemsetAsync(s->array[ARRAY_HISTOGRAM].p, 0,
                                  n * sizeof(uint64_t), s->device->stream));
    TRY(count_kind(ctx, s, range, n_bins, 0));
    if (s->view.n_halo > 0)
        TRY(count_kind(ctx, s, range, n_bins, 1));
    uint64_t *fresh = (uint64_t *)malloc(n * sizeof *fresh);
    if (!fresh)
        return FAIL(ctx, STATUS_MEMORY, "no memory for histograms");
    int status = cuda_to_host(ctx, s->device, fresh,
                              s->array[ARRAY_HISTOGRAM].p, n * sizeof *fresh);
    for (size_t k = 0; status == 0 && k < n; k++)
        counts[k] += fresh[k];
    free(fresh);
    return status;
}

/* The nearest neighbor of each particle: its place in the pair array, and the
 * square of the distance (or -1). */
struct near_one {
    double r2;
    uint32_t j;
};

static __global__ void find_nearest(struct md_view m, struct cell_grid g,
                                    const uint32_t *start, uint32_t base,
                                    scalar distance2, int first,
                                    struct near_one *nearest)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    struct near_one best = {-1, 0};
    if (!first)
        best = nearest[i];
    for_each_near(m, g, start, base, i, distance2, [&](uint32_t j, scalar r2) {
        if (best.r2 < 0 || (double)r2 < best.r2) {
            best.r2 = (double)r2;
            best.j = j;
        }
    });
    nearest[i] = best;
}

static int find_kind(struct ctx *ctx, struct md_store *s, double distance,
                     int halo)
{
    LAUNCH(find_nearest, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, cells_for(s, distance),
           ARRAY(s, halo ? ARRAY_START_HALO : ARRAY_START_OWN, uint32_t),
           halo ? s->view.n_own : 0, (scalar)(distance * distance), !halo,
           ARRAY(s, ARRAY_RECORDS, struct near_one));
    CUDA_TRY_LAUNCH(ctx, "find_nearest");
    return 0;
}

static int name_pair(struct ctx *ctx, struct md_store *s, uint32_t i,
                     struct near_one best, struct md_close_pair *out)
{
    out->found = 1;
    out->distance = sqrt(best.r2);
    TRY(cuda_to_host(ctx, s->device, &out->id[0], s->view.id + i,
                     sizeof out->id[0]));
    return cuda_to_host(ctx, s->device, &out->id[1], s->view.id + best.j,
                        sizeof out->id[1]);
}

int cuda_closest_pair(struct ctx *ctx, const struct md_store *store,
                      double distance, struct md_close_pair *out)
{
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    uint32_t n = s->view.n_own, closest = 0;
    memset(out, 0, sizeof *out);
    if (n == 0)
        return 0;
    TRY(cuda_reserve(s, ARRAY_RECORDS, n, sizeof(struct near_one),
                     "the closest pair"));
    TRY(find_kind(ctx, s, distance, 0));
    if (s->view.n_halo > 0)
        TRY(find_kind(ctx, s, distance, 1));
    struct near_one *nearest = (struct near_one *)malloc(n * sizeof *nearest);
    if (!nearest)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the closest pair");
    int status = cuda_to_host(ctx, s->device, nearest,
                              s->array[ARRAY_RECORDS].p, n * sizeof *nearest);
    int found = 0;
    for (uint32_t i = 0; status == 0 && i < n; i++)
        if (nearest[i].r2 >= 0 &&
            (!found || nearest[i].r2 < nearest[closest].r2)) {
            closest = i;
            found = 1;
        }
    if (status == 0 && found)
        status = name_pair(ctx, s, closest, nearest[closest], out);
    free(nearest);
    return status;
}

/* *slot: the least slot with a number that is none. */
static __global__ void look_for_not_finite(struct md_view m, unsigned *slot)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    int finite = 1;
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        finite = finite && isfinite(m.x[at]) && isfinite(m.v[at]) &&
                 isfinite(m.f[at]);
    }
    if (!finite)
        atomicMin(slot, i);
}

static int find_not_finite(struct md_store *s, unsigned *slot)
{
    unsigned *on_card;
    TRY(cuda_reserve(s, ARRAY_COUNTER, 64, sizeof(unsigned), "counters"));
    on_card = ARRAY(s, ARRAY_COUNTER, unsigned);
    CUDA_TRY(s->ctx, cudaMemsetAsync(on_card, 0xff, sizeof *on_card,
                                     s->device->stream));
    LAUNCH(look_for_not_finite, cuda_blocks(s->view.n_own, MD_THREADS),
           MD_THREADS, 0, s->device->stream, s->view, on_card);
    CUDA_TRY_LAUNCH(s->ctx, "look_for_not_finite");
    return cuda_to_host(s->ctx, s->device, slot, on_card, sizeof *slot);
}

template <class T>
static int fetch_three(struct md_store *s, const T *column, uint32_t i,
                       double out[3])
{
    for (int d = 0; d < 3; d++) {
        T value;
        TRY(cuda_to_host(s->ctx, s->device, &value,
                         column + d * s->view.stride + i, sizeof value));
        out[d] = (double)value;
    }
    return 0;
}

static int fetch_particle(struct md_store *s, uint32_t i, struct md_particle *p)
{
    memset(p, 0, sizeof *p);
    TRY(cuda_to_host(s->ctx, s->device, &p->id, s->view.id + i, sizeof p->id));
    TRY(fetch_three(s, s->view.x, i, p->position));
    for (int d = 0; d < 3; d++)
        p->position[d] += s->view.state_origin[d];
    return fetch_three(s, s->view.v, i, p->velocity);
}

int cuda_find_not_finite(const struct md_store *store, struct md_particle *out)
{
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    unsigned slot = UINT32_MAX;
    if (s->view.n_own == 0 || find_not_finite(s, &slot) != 0 ||
        slot == UINT32_MAX)
        return 0;
    return fetch_particle(s, slot, out) == 0;
}
