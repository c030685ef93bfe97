/* special.c: which particles are one, two and three bonds apart. */
#include "domain/topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Who is bound to whom: neighbors of i are to[first[i] .. first[i + 1]). */
struct graph {
    size_t *first;
    int64_t *to;
};

static void graph_free(struct graph *g)
{
    free(g->first);
    free(g->to);
}

static int graph_make(struct ctx *ctx, int64_t n, size_t n_bonds,
                      const int64_t (*bonds)[2], struct graph *g)
{
    size_t particles = (size_t)n;
    g->first = calloc(particles + 2, sizeof *g->first);
    g->to = malloc((2 * n_bonds + 1) * sizeof *g->to);
    if (!g->first || !g->to)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu bonds", n_bonds);
    for (size_t b = 0; b < n_bonds; b++)
        for (int e = 0; e < 2; e++)
            g->first[bonds[b][e] + 1]++;
    for (size_t i = 1; i <= particles + 1; i++)
        g->first[i] += g->first[i - 1];
    for (size_t b = 0; b < n_bonds; b++)
        for (int e = 0; e < 2; e++)
            g->to[g->first[bonds[b][e]]++] = bonds[b][1 - e];
    /* Each start has moved to the next one's. */
    memmove(g->first + 1, g->first, (particles + 1) * sizeof *g->first);
    g->first[0] = 0;
    return 0;
}

/* What has been reached from one particle, nearest first. */
struct reached {
    int64_t *id;
    size_t n, capacity;
};

static int reach(struct ctx *ctx, struct reached *r, int64_t id)
{
    for (size_t k = 0; k < r->n; k++)
        if (r->id[k] == id)
            return 0;
    if (r->n == r->capacity) {
        size_t capacity = 2 * r->capacity + 64;
        int64_t *fresh = realloc(r->id, capacity * sizeof *fresh);
        if (!fresh)
            return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
        r->id = fresh;
        r->capacity = capacity;
    }
    r->id[r->n++] = id;
    return 0;
}

struct term_list {
    struct md_term *p;
    size_t n, capacity;
};

static int add_pair(struct ctx *ctx, struct term_list *list, int64_t i,
                    int64_t j, int apart)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity + list->capacity / 2 + 1024;
        struct md_term *fresh = realloc(list->p, capacity * sizeof *fresh);
        if (!fresh)
            return FAIL(ctx, STATUS_MEMORY, "no memory for %zu bonded pairs",
                        capacity);
        list->p = fresh;
        list->capacity = capacity;
    }
    list->p[list->n++] = (struct md_term){{i, j}, MD_TERM_SPECIAL, apart};
    return 0;
}

/* All pairs (i, j > i) up to three bonds apart. */
static int pairs_of(struct ctx *ctx, const struct graph *g, int64_t i,
                    struct reached *r, struct term_list *list)
{
    r->n = 0;
    TRY(reach(ctx, r, i));
    size_t begin = 0;
    for (int apart = 0; apart < 3; apart++) {
        size_t end = r->n;
        for (size_t k = begin; k < end; k++) {
            int64_t from = r->id[k];
            for (size_t q = g->first[from]; q < g->first[from + 1]; q++)
                TRY(reach(ctx, r, g->to[q]));
        }
        for (size_t k = end; k < r->n; k++)
            if (r->id[k] > i)
                TRY(add_pair(ctx, list, i, r->id[k], apart));
        begin = end;
    }
    return 0;
}

int topology_special(struct ctx *ctx, int64_t n_particles, size_t n_bonds,
                     const int64_t (*bonds)[2], struct md_term **out, size_t *n)
{
    struct graph g = {NULL, NULL};
    struct reached r = {NULL, 0, 0};
    struct term_list list = {NULL, 0, 0};
    int status = graph_make(ctx, n_particles, n_bonds, bonds, &g);
    for (int64_t i = 1; i <= n_particles && status == 0; i++)
        status = pairs_of(ctx, &g, i, &r, &list);
    graph_free(&g);
    free(r.id);
    if (status != 0) {
        free(list.p);
        list = (struct term_list){NULL, 0, 0};
    }
    *out = list.p;
    *n = list.n;
    return status;
}
