/* md_cmap.c: see md_cmap.h. */
#include "md_cmap.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "md.h"
#include "md_data.h"
#include "md_fingerprint.h"
#include "md_text.h"

/* ---- a set of maps ---- */

static int fail_memory(struct ctx *ctx)
{
    return FAIL(ctx, STATUS_MEMORY, "no memory for correction maps");
}

int md_maps_add(struct ctx *ctx, struct md_maps *maps, int32_t points,
                const double *energy, double scale)
{
    size_t more = (size_t)points * (size_t)points;
    size_t n = (size_t)maps->n + 1, all = maps->n_energies + more;
    if (all > INT32_MAX)
        return FAIL(ctx, STATUS_INPUT, "more than %d energies of maps",
                    INT32_MAX);
    int32_t *sizes = realloc(maps->points, n * sizeof *sizes);
    if (!sizes)
        return fail_memory(ctx);
    maps->points = sizes;
    double *grown = realloc(maps->energy, all * sizeof *grown);
    if (!grown)
        return fail_memory(ctx);
    maps->energy = grown;
    for (size_t k = 0; k < more; k++)
        grown[maps->n_energies + k] = energy[k] * scale;
    sizes[maps->n++] = points;
    maps->n_energies = all;
    return 0;
}

int md_maps_share(struct ctx *ctx, struct md_maps *maps)
{
    struct md_maps own = *maps;
    int is_reader = comm_rank(ctx->comm) == 0, status = 0;
    TRY(comm_bcast(ctx, maps, sizeof *maps));
    maps->points = own.points;
    maps->energy = own.energy;
    if (maps->n == 0)
        return 0;
    if (!is_reader) {
        maps->points = malloc((size_t)maps->n * sizeof *maps->points);
        maps->energy = malloc(maps->n_energies * sizeof *maps->energy);
        if (!maps->points || !maps->energy)
            status = fail_memory(ctx);
    }
    TRY(comm_agree(ctx, status));
    TRY(comm_bcast(ctx, maps->points, (size_t)maps->n * sizeof *maps->points));
    return comm_bcast(ctx, maps->energy,
                      maps->n_energies * sizeof *maps->energy);
}

void md_maps_free(struct md_maps *maps)
{
    free(maps->points);
    free(maps->energy);
    *maps = (struct md_maps){0};
}

/* ---- the file of LAMMPS's "fix cmap" ---- */

enum { FILE_ENERGIES = MD_MAP_POINTS * MD_MAP_POINTS };

static int parse_maps(struct md_text *t, struct md_maps *maps)
{
    double energy[FILE_ENERGIES];
    int there = 1, n = 0;
    for (;;) {
        TRY(md_text_words(t, &there));
        if (!there)
            break;
        for (int w = 0; w < t->n_words; w++) {
            TRY(md_text_real(t, w, "an energy of a map", &energy[n++]));
            if (n < FILE_ENERGIES)
                continue;
            TRY(md_maps_add(t->ctx, maps, MD_MAP_POINTS, energy, 1));
            n = 0;
        }
    }
    if (n > 0)
        return md_text_fail(t,
                            "the file ends after %d of the %d x %d = %d "
                            "energies of map %" PRId32,
                            n, MD_MAP_POINTS, MD_MAP_POINTS, FILE_ENERGIES,
                            maps->n + 1);
    if (maps->n == 0)
        return FAIL(t->ctx, STATUS_INPUT, "'%s' has no maps", t->path);
    return 0;
}

static int read_file(struct ctx *ctx, const char *path, struct md_maps *maps)
{
    struct md_text t = {.ctx = ctx, .path = path, .file = fopen(path, "r")};
    if (!t.file)
        return FAIL(ctx, STATUS_INPUT, "cannot open '%s': %s", path,
                    strerror(errno));
    int status = parse_maps(&t, maps);
    md_text_close(&t);
    return status;
}

/* Each term has its map. */
static int check_types(struct ctx *ctx, const struct md_data *data,
                       const char *path)
{
    for (size_t k = 0; k < data->n_all_terms; k++) {
        const struct md_term *t = &data->terms[k];
        if (t->kind == MD_TERM_CMAP && t->type >= data->maps.n)
            return md_data_fail(ctx, data, k,
                                "type %" PRId32 ", of atoms %" PRId64
                                " to %" PRId64 ", but '%s' has %" PRId32
                                " map%s",
                                t->type + 1, t->id[0], t->id[4], path,
                                data->maps.n, data->maps.n == 1 ? "" : "s");
    }
    return 0;
}

/* Rank 0 reads; whatever comes of it, all ranks end together. */
static int read_maps(struct ctx *ctx, struct params *p, struct md_data *data)
{
    char *path = params_file(p, params_string(p, "md.bonds", "cmap"));
    int status = 0;
    if (!path)
        status = fail_memory(ctx);
    else if (comm_rank(ctx->comm) == 0) {
        status = read_file(ctx, path, &data->maps);
        if (status == 0)
            status = check_types(ctx, data, path);
    }
    free(path);
    TRY(comm_agree(ctx, status));
    return md_maps_share(ctx, &data->maps);
}

/* ---- nodes ---- */

/* Slopes, per step, of the periodic cubic spline through n values that lie
 * `step` apart. They are the solution of
 *     s[i-1] + 4 s[i] + s[i+1] = 3 (v[i+1] - v[i-1]),
 * whose inverse falls off by z = sqrt(3) - 2 a step to either side, and around
 * the circle again and again: a geometric series. */
static void find_slopes(int n, size_t step, const double *v, double *slope)
{
    const double z = sqrt(3) - 2;
    double fall[MD_MAP_POINTS_MAX + 1];
    fall[0] = 1;
    for (int k = 1; k <= n; k++)
        fall[k] = fall[k - 1] * z;
    double scale = 3 / (2 * sqrt(3) * (1 - fall[n]));
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
            int apart = i > j ? i - j : j - i;
            double up = v[(size_t)((j + 1) % n) * step];
            double down = v[(size_t)((j + n - 1) % n) * step];
            sum += (fall[apart] + fall[n - apart]) * (up - down);
        }
        slope[(size_t)i * step] = scale * sum;
    }
}

/* Splines along one angle, and of what these give along the other: the order
 * does not matter. column[3]: room for a map each. */
static void fill_map(int n, const double *u, double *const column[3],
                     struct md_cmap_node *node)
{
    size_t all = (size_t)n * (size_t)n;
    for (int i = 0; i < n; i++) {
        find_slopes(n, (size_t)n, u + i, column[0] + i); /* along phi */
        find_slopes(n, 1, u + (size_t)i * (size_t)n,
                    column[1] + (size_t)i * (size_t)n);
    }
    for (int i = 0; i < n; i++)
        find_slopes(n, 1, column[0] + (size_t)i * (size_t)n,
                    column[2] + (size_t)i * (size_t)n);
    for (size_t k = 0; k < all; k++)
        node[k] = (struct md_cmap_node){u[k], column[0][k], column[1][k],
                                        column[2][k]};
}

static int make_nodes(struct ctx *ctx, struct md *md)
{
    const struct md_maps *maps = &md->data->maps;
    struct md_bonded *b = &md->bonded;
    double *column[3];
    int32_t first = 0;
    b->cmaps = calloc((size_t)maps->n, sizeof *b->cmaps);
    b->cmap_nodes = calloc(maps->n_energies, sizeof *b->cmap_nodes);
    double *room =
        malloc(3 * MD_MAP_POINTS_MAX * MD_MAP_POINTS_MAX * sizeof *room);
    if (!b->cmaps || !b->cmap_nodes || !room) {
        free(room);
        return fail_memory(ctx);
    }
    for (int c = 0; c < 3; c++)
        column[c] = room + c * MD_MAP_POINTS_MAX * MD_MAP_POINTS_MAX;
    for (int32_t k = 0; k < maps->n; k++) {
        int32_t n = maps->points[k];
        b->cmaps[k] = (struct md_cmap){n, first};
        fill_map(n, maps->energy + first, column, b->cmap_nodes + first);
        first += n * n;
    }
    free(room);
    return 0;
}

/* ---- the deck ---- */

int md_cmap_read(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_data *data = md->data;
    int is_set = !data->styled && params_is_set(p, "md.bonds", "cmap");
    if (data->n_crossterms == 0 && is_set)
        params_error(p, "md.bonds", "cmap",
                     "'%s' has no crossterms that these maps were for",
                     data->path);
    if (data->n_crossterms > 0 && !data->styled && !is_set)
        params_error(p, "md.bonds", "cmap",
                     "'%s' has %" PRId64 " crossterms, and no file of their "
                     "maps is named; set md.bonds.cmap",
                     data->path, data->n_crossterms);
    if (data->n_crossterms == 0)
        return 0;
    if (is_set)
        TRY(read_maps(ctx, p, data));
    return data->maps.n > 0 ? comm_agree(ctx, make_nodes(ctx, md)) : 0;
}

/* ---- the start ---- */

int md_cmap_check(struct ctx *ctx, const struct md *md)
{
    const struct md_data *data = md->data;
    double most = 0.5 * md_shortest_edge(md);
    for (size_t k = 0; k < data->n_all_terms; k++) {
        const struct md_term *t = &data->terms[k];
        for (int e = 1; t->kind == MD_TERM_CMAP && e < MD_TERM_MOST; e++) {
            double r = md_data_distance(md, t->id[e - 1], t->id[e]);
            if (!(r <= most))
                return md_data_fail(
                    ctx, data, k,
                    "atoms %" PRId64 " and %" PRId64
                    ", which follow one another in the correction map of "
                    "atoms %" PRId64 " to %" PRId64
                    ", are %.6g apart, more than half the box, %.6g",
                    t->id[e - 1], t->id[e], t->id[0], t->id[4], r, most);
        }
    }
    return 0;
}

/* ---- checkpoints ---- */

int64_t md_cmap_fingerprint(const struct md *md)
{
    const struct md_maps *maps = md->data ? &md->data->maps : NULL;
    int64_t out;
    if (!maps || md->bonded.field.n_cmaps == 0)
        return 0;
    uint64_t h = mix_bytes(fingerprint_start, maps->points,
                           (size_t)maps->n * sizeof *maps->points);
    h = mix_bytes(h, maps->energy, maps->n_energies * sizeof *maps->energy);
    memcpy(&out, &h, sizeof out);
    return out;
}
