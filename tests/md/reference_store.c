#include "reference_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"

/* ---- content ---- */

int reference_create(struct ctx *ctx, const struct md_setup *setup,
                     struct md_store **out)
{
    struct md_store *s = calloc(1, sizeof *s);
    size_t pairs = (size_t)setup->n_species * (size_t)setup->n_species;
    *out = s;
    if (!s)
        return FAIL(ctx, STATUS_MEMORY, "no memory");
    s->setup = *setup;
    memcpy(s->coeff, setup->coeff, pairs * sizeof *s->coeff);
    s->setup.coeff = s->coeff;
    return 0;
}

void reference_destroy(struct md_store *s)
{
    if (!s)
        return;
    free(s->body);
    free(s->leaver);
    free(s->chosen);
    free(s->halo);
    free(s);
}

size_t reference_count(const struct md_store *s)
{
    return s->n;
}

void reference_counters(const struct md_store *s, struct md_counters *out)
{
    *out = (struct md_counters){.lists_built = s->lists,
                                .bytes = s->capacity * sizeof *s->body};
}

int reference_insert(struct ctx *ctx, struct md_store *s,
                     const struct md_particle *p, size_t n)
{
    if (s->n + n > s->capacity) {
        size_t capacity = 2 * (s->n + n);
        struct body *grown = realloc(s->body, capacity * sizeof *grown);
        if (!grown)
            return FAIL(ctx, STATUS_MEMORY, "no memory");
        s->body = grown;
        s->capacity = capacity;
    }
    for (size_t i = 0; i < n; i++)
        s->body[s->n++] = (struct body){.p = p[i]};
    return 0;
}

static void wrap(const struct md_store *s, struct md_particle *p)
{
    for (int d = 0; d < 3; d++) {
        double lo = s->setup.box_lo[d], length = s->setup.box_length[d];
        while (p->position[d] < lo) {
            p->position[d] += length;
            p->image[d]--;
            if (p->position[d] >= lo + length) { /* was -tiny */
                p->position[d] = lo;
                p->image[d]++;
            }
        }
        while (p->position[d] >= lo + length) {
            p->position[d] -= length;
            p->image[d]++;
        }
    }
}

void reference_gather(const struct md_store *s, struct md_particle *out,
                      double (*force)[3])
{
    for (size_t i = 0; i < s->n; i++) {
        out[i] = s->body[i].p;
        wrap(s, &out[i]);
        for (int d = 0; d < 3 && force; d++)
            force[i][d] = s->body[i].force[d];
    }
}

/* ---- redistribution ---- */

static int is_inside(const struct md_store *s, const double x[3])
{
    for (int d = 0; d < 3; d++)
        if (x[d] < s->setup.lo[d] || x[d] >= s->setup.hi[d])
            return 0;
    return 1;
}

int reference_extract_leavers(struct ctx *ctx, struct md_store *s,
                              const struct md_particle **out, size_t *n)
{
    size_t kept = 0;
    free(s->leaver);
    s->leaver = malloc((s->n + 1) * sizeof *s->leaver);
    s->n_leavers = 0;
    if (!s->leaver)
        return FAIL(ctx, STATUS_MEMORY, "no memory");
    for (size_t i = 0; i < s->n; i++) {
        struct body b = s->body[i];
        wrap(s, &b.p);
        if (is_inside(s, b.p.position))
            s->body[kept++] = b;
        else
            s->leaver[s->n_leavers++] = b.p;
    }
    s->n = kept;
    *out = s->leaver;
    *n = s->n_leavers;
    return 0;
}

int reference_sort(struct ctx *ctx, struct md_store *s)
{
    (void)ctx;
    (void)s;
    return 0;
}

static double distance2_to_block(const struct md_channel *c, const double x[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double gap = fmax(0, fmax(c->lo[d] - x[d], x[d] - c->hi[d]));
        sum += gap * gap;
    }
    return sum;
}

int reference_select_halo(struct ctx *ctx, struct md_store *s, int n_channels,
                          const struct md_channel *channels, size_t *counts)
{
    double radius2 = s->setup.halo_radius * s->setup.halo_radius;
    free(s->chosen);
    s->chosen = malloc(((size_t)n_channels * s->n + 1) * sizeof *s->chosen);
    s->n_chosen = 0;
    if (!s->chosen)
        return FAIL(ctx, STATUS_MEMORY, "no memory");
    for (int c = 0; c < n_channels; c++) {
        size_t before = s->n_chosen;
        for (size_t i = 0; i < s->n; i++) {
            if (distance2_to_block(&channels[c], s->body[i].p.position) >
                radius2)
                continue;
            struct chosen *chosen = &s->chosen[s->n_chosen++];
            chosen->body = i;
            memcpy(chosen->shift, channels[c].shift, sizeof chosen->shift);
        }
        counts[c] = s->n_chosen - before;
    }
    return 0;
}

size_t reference_halo_record_bytes(int with_species)
{
    return with_species ? sizeof(struct record) : 3 * sizeof(double);
}

void reference_pack_halo(struct md_store *s, int with_species, void *buffer)
{
    unsigned char *out = buffer;
    size_t bytes = reference_halo_record_bytes(with_species);
    for (size_t i = 0; i < s->n_chosen; i++) {
        const struct md_particle *p = &s->body[s->chosen[i].body].p;
        struct record r = {.id = p->id, .species = p->species};
        for (int d = 0; d < 3; d++)
            r.position[d] = p->position[d] + s->chosen[i].shift[d];
        memcpy(out + i * bytes, &r, bytes);
    }
}

int reference_accept_halo(struct ctx *ctx, struct md_store *s, size_t n,
                          const void *buffer)
{
    free(s->halo);
    s->halo = malloc((n + 1) * sizeof *s->halo);
    s->n_halo = n;
    if (!s->halo)
        return FAIL(ctx, STATUS_MEMORY, "no memory");
    if (n > 0)
        memcpy(s->halo, buffer, n * sizeof *s->halo);
    return 0;
}

void reference_unpack_halo(struct md_store *s, const void *buffer)
{
    const unsigned char *in = buffer;
    size_t bytes = reference_halo_record_bytes(0);
    for (size_t i = 0; i < s->n_halo; i++)
        memcpy(s->halo[i].position, in + i * bytes, bytes);
}

int reference_build_list(struct ctx *ctx, struct md_store *s)
{
    (void)ctx;
    for (size_t i = 0; i < s->n; i++)
        memcpy(s->body[i].start, s->body[i].p.position,
               sizeof s->body[i].start);
    s->lists++;
    return 0;
}
