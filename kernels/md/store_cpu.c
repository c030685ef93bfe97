/* store_cpu.c: particles into and out of the store, and their layout. */
#include "kernels/md/store_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/wrap.h"

enum { ALIGNMENT = 64 };

int md_grow(void **p, size_t *capacity, size_t n, size_t size)
{
    if (n <= *capacity)
        return 0;
    /* Small slack: arrays are long and grow rarely. */
    size_t grown = *capacity > 0 ? n + n / 16 + 16 : n;
    void *fresh = NULL;
    if (posix_memalign(&fresh, ALIGNMENT, grown * size + ALIGNMENT) != 0)
        return -1;
    if (*capacity > 0)
        memcpy(fresh, *p, *capacity * size);
    free(*p);
    *p = fresh;
    *capacity = grown;
    return 0;
}

int md_grow_list(void **p, size_t *capacity, size_t n, size_t size)
{
    if (n <= *capacity)
        return 0;
    size_t grown = n + n / 16 + 1024;
    void *fresh = realloc(*p, grown * size);
    if (!fresh)
        return -1;
    *p = fresh;
    *capacity = grown;
    return 0;
}

static void *align(void *p)
{
    uintptr_t a = (uintptr_t)p;
    return (void *)((a + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static int grow_all(struct md_store *s, size_t n)
{
    size_t slots = n * (size_t)LANES, old = s->cap_clusters * (size_t)LANES;
    struct {
        void **p;
        size_t size; /* per slot */
    } arrays[] = {
        {(void **)&s->x, 3 * sizeof(state)},
        {(void **)&s->v, 3 * sizeof(state)},
        {(void **)&s->f, 3 * sizeof(scalar)},
#if MD_PRECISION == 2
        {(void **)&s->sorted, 3 * sizeof(state)},
        {(void **)&s->pair_x, 3 * sizeof(scalar)},
#endif
        {(void **)&s->listed, 3 * sizeof(state)},
        {(void **)&s->moved, 3 * sizeof(float)},
        {(void **)&s->id, sizeof(int64_t)},
        {(void **)&s->image, sizeof(int32_t[3])},
        {(void **)&s->species, 1},
        {(void **)&s->charge, sizeof(scalar)},
    };
    size_t n_arrays = sizeof arrays / sizeof arrays[0];
    if (!s->setup.charged)
        n_arrays--;
    for (size_t a = 0; a < n_arrays; a++) {
        size_t capacity = old;
        if (md_grow(arrays[a].p, &capacity, slots, arrays[a].size) != 0)
            return -1;
    }
    for (int b = 0; b < 6; b++) {
        size_t capacity = s->cap_clusters + (s->cap_clusters ? BOX_LANES : 0);
        if (md_grow((void **)&s->box[b], &capacity, n + BOX_LANES,
                    sizeof(float)) != 0)
            return -1;
    }
#if MD_PRECISION != 2
    s->pair_x = s->x;
#endif
    return 0;
}

int md_reserve_clusters(struct ctx *ctx, struct md_store *s, size_t n)
{
    if (n <= s->cap_clusters)
        return 0;
    if (s->cap_clusters > 0)
        n += n / 32 + 8;
    if (n > UINT32_MAX / (3 * (size_t)LANES))
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "more than %u clusters of particles on one rank; use more "
                    "ranks",
                    (unsigned)(UINT32_MAX / (3 * (size_t)LANES)));
    if (grow_all(s, n) != 0)
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for %zu particles on one rank; use more ranks",
                    n * (size_t)LANES);
    if (s->n_workers > 1) {
        for (int w = 0; w < s->n_workers; w++) {
            struct md_worker *worker = &s->workers[w];
            free(worker->force_base);
            free(worker->touched);
            /* Fresh zero pages cost nothing until they are touched, so that
             * each thread may have an array of the whole. */
            worker->force_base =
                calloc(n * 3 * (size_t)LANES * sizeof(scalar) + ALIGNMENT, 1);
            worker->force = align(worker->force_base);
            worker->touched = calloc(n / TOUCH_BLOCK + 1, 1);
            if (!worker->force_base || !worker->touched)
                return FAIL(ctx, STATUS_MEMORY,
                            "no memory for the forces of %d threads",
                            s->n_workers);
        }
    }
    s->cap_clusters = n;
    return 0;
}

int md_insert(struct ctx *ctx, struct md_store *s, const struct md_particle *p,
              size_t n)
{
    if (n == 0)
        return 0;
    if (md_grow((void **)&s->inbox, &s->cap_inbox, s->n_inbox + n,
                sizeof *s->inbox) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", n);
    memcpy(s->inbox + s->n_inbox, p, n * sizeof *p);
    s->n_inbox += n;
    return 0;
}

static void particle_at(const struct md_store *s, size_t slot,
                        struct md_particle *p)
{
    p->id = s->id[slot];
    p->species = s->species[slot];
    p->charge = s->charge ? (double)s->charge[slot] : 0;
    for (int d = 0; d < 3; d++) {
        p->position[d] = (double)s->x[SLOT(slot, d)] + s->state_origin[d];
        p->velocity[d] = (double)s->v[SLOT(slot, d)];
        p->image[d] = s->image[slot][d];
    }
}

void md_gather(const struct md_store *s, struct md_particle *out,
               double (*force)[3])
{
    size_t n = 0, slots = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t slot = 0; slot < slots; slot++) {
        if (s->id[slot] == 0)
            continue;
        particle_at(s, slot, &out[n]);
        wrap_position(out[n].position, s->setup.box_lo, s->setup.box_length,
                      s->setup.tilt, out[n].image);
        for (int d = 0; force && d < 3; d++)
            force[n][d] = (double)s->f[SLOT(slot, d)];
        n++;
    }
    for (size_t k = 0; k < s->n_inbox; k++, n++) {
        out[n] = s->inbox[k];
        for (int d = 0; force && d < 3; d++)
            force[n][d] = 0;
    }
}

/* A particle that left its box by more than this many lengths is not wrapped:
 * the images would overflow; extract_leavers() passes it on as it is. */
static int is_finite3(const double x[3])
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

int md_extract_leavers(struct ctx *ctx, struct md_store *s,
                       const struct md_particle **out, size_t *n)
{
    const struct md_setup *setup = &s->setup;
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    *n = 0;
    for (size_t slot = 0; slot < slots; slot++) {
        if (s->id[slot] == 0)
            continue;
        double x[3];
        int outside = 0;
        for (int d = 0; d < 3; d++)
            x[d] = (double)s->x[SLOT(slot, d)] + s->state_origin[d];
        if (!is_finite3(x))
            return FAIL(ctx, STATUS_PHYSICS,
                        "particle %lld has no finite position",
                        (long long)s->id[slot]);
        int moved = wrap_position(x, setup->box_lo, setup->box_length,
                                  setup->tilt, s->image[slot]);
        for (int d = 0; d < 3; d++)
            if (setup->cut[d] && (x[d] < setup->lo[d] || x[d] >= setup->hi[d]))
                outside = 1;
        if (moved)
            for (int d = 0; d < 3; d++)
                s->x[SLOT(slot, d)] = (state)(x[d] - s->state_origin[d]);
        if (!outside)
            continue;
        if (md_grow((void **)&s->leavers, &s->cap_leavers, *n + 1,
                    sizeof *s->leavers) != 0)
            return FAIL(ctx, STATUS_MEMORY,
                        "no memory for migrating particles");
        struct md_particle *p = &s->leavers[*n];
        particle_at(s, slot, p);
        for (int d = 0; d < 3; d++)
            p->position[d] = x[d];
        s->id[slot] = 0;
        s->n_own--;
        (*n)++;
    }
    *out = s->leavers;
    return 0;
}

/* ---- sort ---- */

/* The column of each particle, old slots first, then the inbox. */
static void find_keys(struct md_store *s, size_t slots)
{
    for (size_t k = 0; k < slots; k++) {
        s->key[k] = -1;
        if (s->id[k] == 0)
            continue;
        double x[3];
        for (int d = 0; d < 3; d++)
            x[d] = (double)s->x[SLOT(k, d)] + s->state_origin[d] - s->origin[d];
        s->key[k] = md_column_of(&s->columns, x[0], x[1]);
        s->z[k] = x[2];
    }
    for (size_t k = 0; k < s->n_inbox; k++) {
        const double *x = s->inbox[k].position;
        s->key[slots + k] =
            md_column_of(&s->columns, x[0] - s->origin[0], x[1] - s->origin[1]);
        s->z[slots + k] = x[2] - s->origin[2];
    }
}

/* Positions or velocities into their new slots. `to` becomes the array, and the
 * old one the scratch. */
static void permute_state(struct md_store *s, state **array, state **scratch,
                          size_t old_slots, size_t slots, int velocity)
{
    const state *from = *array;
    state *to = *scratch;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t t = 0; t < slots; t++) {
        int64_t k = s->order[t];
        for (int d = 0; d < 3; d++) {
            state value;
            if (k < 0)
                value =
                    velocity
                        ? 0
                        : (state)(s->far + s->origin[d] - s->state_origin[d]);
            else if ((size_t)k < old_slots)
                value = from[SLOT(k, d)];
            else if (velocity)
                value = (state)s->inbox[(size_t)k - old_slots].velocity[d];
            else
                value = (state)(s->inbox[(size_t)k - old_slots].position[d] -
                                s->state_origin[d]);
            to[SLOT(t, d)] = value;
        }
    }
    state *swap = *array;
    *array = *scratch;
    *scratch = swap;
}

/* Ids, images, species and charges, through the scratch and back. */
static void permute_labels(struct md_store *s, void *scratch, size_t old_slots,
                           size_t slots)
{
    int64_t *id = scratch;
    for (size_t t = 0; t < slots; t++) {
        int64_t k = s->order[t];
        id[t] = k < 0                   ? 0
                : (size_t)k < old_slots ? s->id[k]
                                        : s->inbox[(size_t)k - old_slots].id;
    }
    memcpy(s->id, id, slots * sizeof *id);
    int32_t(*image)[3] = scratch;
    for (size_t t = 0; t < slots; t++) {
        int64_t k = s->order[t];
        const int32_t *from = k < 0 ? NULL
                              : (size_t)k < old_slots
                                  ? s->image[k]
                                  : s->inbox[(size_t)k - old_slots].image;
        for (int d = 0; d < 3; d++)
            image[t][d] = from ? from[d] : 0;
    }
    memcpy(s->image, image, slots * sizeof *image);
    uint8_t *species = scratch;
    for (size_t t = 0; t < slots; t++) {
        int64_t k = s->order[t];
        species[t] = k < 0 ? 0
                     : (size_t)k < old_slots
                         ? s->species[k]
                         : (uint8_t)s->inbox[(size_t)k - old_slots].species;
    }
    memcpy(s->species, species, slots);
    scalar *charge = scratch;
    if (!s->charge)
        return;
    for (size_t t = 0; t < slots; t++) {
        int64_t k = s->order[t];
        charge[t] = k < 0 ? 0
                    : (size_t)k < old_slots
                        ? s->charge[k]
                        : (scalar)s->inbox[(size_t)k - old_slots].charge;
    }
    memcpy(s->charge, charge, slots * sizeof *charge);
}

/* Own clusters divided among the threads in equal numbers. */
static void divide_clusters(struct md_store *s)
{
    for (int w = 0; w < s->n_workers; w++) {
        s->workers[w].first =
            (int32_t)((int64_t)s->n_clusters * w / s->n_workers);
        s->workers[w].last =
            (int32_t)((int64_t)s->n_clusters * (w + 1) / s->n_workers);
    }
}

int md_sort(struct ctx *ctx, struct md_store *s)
{
    const struct md_setup *setup = &s->setup;
    size_t old_slots = (size_t)s->n_clusters * (size_t)LANES;
    size_t n = old_slots + s->n_inbox;
    double lo[2] = {setup->lo[0] - s->origin[0], setup->lo[1] - s->origin[1]};
    double hi[2] = {setup->hi[0] - s->origin[0], setup->hi[1] - s->origin[1]};

    s->n_own += s->n_inbox;
    TRY(md_shape_columns(ctx, &s->columns, lo, hi, setup->hi[2] - setup->lo[2],
                         s->n_own));
    if (n >= INT32_MAX)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "more than 2^31 particles on one rank; use more ranks");
    if (md_grow((void **)&s->key, &s->cap_key, n, sizeof *s->key) != 0 ||
        md_grow((void **)&s->z, &s->cap_z, n, sizeof *s->z) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory to sort %zu particles", n);
    find_keys(s, old_slots);
    int32_t n_clusters;
    TRY(md_place(ctx, s, &s->columns, n, 0, &n_clusters));
    /* Also a rank without particles gets its arrays. */
    TRY(md_reserve_clusters(ctx, s, n_clusters > 0 ? (size_t)n_clusters : 1));

    size_t slots = (size_t)n_clusters * (size_t)LANES;
#if MD_PRECISION == 2
    state **scratch = &s->sorted;
#else
    state **scratch = &s->f; /* forces are not needed any more: they follow */
#endif
    permute_state(s, &s->x, scratch, old_slots, slots, 0);
    permute_state(s, &s->v, scratch, old_slots, slots, 1);
    permute_labels(s, *scratch, old_slots, slots);
#if MD_PRECISION == 2
    for (size_t c = 0; c < (size_t)n_clusters; c++)
        for (int d = 0; d < 3; d++)
            for (size_t l = 0; l < (size_t)LANES; l++) {
                size_t k = CLUSTER(c) + (size_t)d * (size_t)LANES + l;
                s->pair_x[k] = (scalar)(s->x[k] - s->origin[d]);
            }
#else
    s->pair_x = s->x;
#endif
    s->f_cleared = 0;
    s->n_clusters = n_clusters;
    s->n_clusters_halo = s->n_clusters_above = 0;
    s->n_halo = 0;
    s->n_inbox = 0;
    if (s->cap_inbox > 4096) { /* the initial crowd; arrivals are few */
        free(s->inbox);
        s->inbox = NULL;
        s->cap_inbox = 0;
    }
    divide_clusters(s);
    md_cluster_boxes(s, 0, n_clusters);
    return 0;
}
