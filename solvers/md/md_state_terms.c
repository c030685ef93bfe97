/* md_state_terms.c: the terms along bonds in a checkpoint.
 *
 * A term is written by the rank that owns the first of its particles, and
 * read by all: each keeps those of its particles, whatever rank wrote them.
 */
#include "md.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/state.h"
#include "domain/topology.h"
#include "kernels/md/id_table.h"
#include "md_cmap.h"

/* A row: kind, type, ids. Rows read at once. */
enum { WIDTH = 2 + MD_TERM_MOST, PIECE = 65536 };

static const char array_name[] = "topology/terms";
static const char maps_name[] = "topology/cmap_tables";

/* Without correction maps no term has five particles. */
static size_t width_of(const struct md *md)
{
    return md->bonded.field.n_cmaps > 0 ? WIDTH : WIDTH - 1;
}

static void to_row(const struct md_term *term, size_t width, int64_t *row)
{
    row[0] = term->kind;
    row[1] = term->type;
    memcpy(row + 2, term->id, (width - 2) * sizeof *row);
}

/* This rank's share: its particles' terms in which they stand first. */
static int collect(struct ctx *ctx, const struct md *md, int64_t **rows,
                   int64_t *n)
{
    size_t width = width_of(md);
    size_t particles = md->k->count(md->store), all = 0, m = 0;
    int64_t *ids = malloc((particles + 1) * sizeof *ids);
    *rows = NULL;
    *n = 0;
    if (!ids)
        return FAIL(ctx, STATUS_MEMORY, "no memory to save bonds");
    md->k->ids(md->store, ids);
    for (size_t i = 0; i < particles; i++) {
        (void)topology_of(md->topology, ids[i], &m);
        all += m;
    }
    *rows = malloc((all + 1) * width * sizeof **rows);
    for (size_t i = 0; i < particles && *rows; i++) {
        const struct md_term *t = topology_of(md->topology, ids[i], &m);
        for (size_t k = 0; k < m; k++)
            if (t[k].id[0] == ids[i])
                to_row(&t[k], width, *rows + width * (size_t)(*n)++);
    }
    free(ids);
    return *rows ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory to save bonds");
}

/* Which maps the terms are of. */
static int save_maps(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    int64_t print = md_cmap_fingerprint(md);
    struct state_array maps = state_shared(maps_name, STATE_INT64, 1, &print);
    return state_put(ctx, io, &maps);
}

int md_save_terms(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    int64_t *rows = NULL, n = 0, first = 0, total;
    int status = comm_agree(ctx, collect(ctx, md, &rows, &n));
    total = n;
    if (status == 0)
        status = comm_exscan_int64(ctx, n, &first);
    if (status == 0)
        status = comm_sum_int64(ctx, &total, 1);
    struct state_array terms = state_rows(array_name, STATE_INT64, total, first,
                                          n, (int64_t)width_of(md), rows);
    if (status == 0)
        status = state_put(ctx, io, &terms);
    if (status == 0 && md->bonded.field.n_cmaps > 0)
        status = save_maps(ctx, md, io);
    free(rows);
    return status;
}

/* ---- back ---- */

static int check_row(struct ctx *ctx, const struct md *md, const int64_t *row)
{
    int bad = row[0] < 0 || row[0] >= MD_TERM_KINDS;
    const struct md_force_field *f = &md->bonded.field;
    int64_t bonds = md->rigid.on ? f->n_bonds : 0;
    int64_t types[MD_TERM_KINDS] = {f->n_bonds,
                                    f->n_angles,
                                    f->n_dihedrals,
                                    f->n_impropers,
                                    3,
                                    bonds,
                                    bonds * bonds,
                                    bonds * bonds * f->n_angles,
                                    bonds * bonds * bonds,
                                    f->n_pairs14,
                                    f->n_cmaps};
    if (!bad)
        bad = row[1] < 0 || row[1] >= types[row[0]];
    for (int k = 0; !bad && k < md_term_size((int)row[0]); k++)
        bad = row[2 + k] < 1 || row[2 + k] > md->n_particles;
    if (bad)
        return FAIL(ctx, STATUS_INPUT,
                    "the checkpoint has a bond that the data file does not "
                    "know: kind %" PRId64 ", type %" PRId64,
                    row[0], row[1] + 1);
    return 0;
}

/* ids[n]: this rank's particles, ascending. */
static int keep(struct ctx *ctx, struct md *md, const int64_t *rows,
                int64_t n_rows, const int64_t *ids, size_t n)
{
    size_t width = width_of(md);
    for (int64_t r = 0; r < n_rows; r++) {
        const int64_t *row = rows + width * (size_t)r;
        TRY(check_row(ctx, md, row));
        struct md_term term = {.kind = (int32_t)row[0],
                               .type = (int32_t)row[1]};
        memcpy(term.id, row + 2, (width - 2) * sizeof *row);
        for (int k = 0; k < md_term_size(term.kind); k++)
            if (bsearch(&term.id[k], ids, n, sizeof *ids, compare_ids))
                TRY(topology_add(ctx, md->topology, term.id[k], &term, 1));
    }
    return 0;
}

static int check_maps(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    int64_t print = 0;
    struct state_array maps = state_shared(maps_name, STATE_INT64, 1, &print);
    TRY(state_get(ctx, io, &maps));
    if (print == md_cmap_fingerprint(md))
        return 0;
    return FAIL(ctx, STATUS_INPUT,
                "the correction maps (CMAP) are not those that the checkpoint "
                "was computed with: a file has changed");
}

int md_restore_terms(struct ctx *ctx, struct md *md, struct state_io *io,
                     const struct md_particle *p, size_t n)
{
    int64_t shape[STATE_RANK_MAX] = {0}, *rows = NULL;
    size_t width = width_of(md);
    int64_t *ids = malloc((n + 1) * sizeof *ids);
    int status = 0;
    rows = malloc(PIECE * width * sizeof *rows);
    if (!ids || !rows)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    else if (!io->find(io, array_name, shape))
        status = FAIL(ctx, STATUS_INPUT, "the checkpoint has no bonds");
    TRY_CLEANUP(comm_agree(ctx, status));
    if (md->bonded.field.n_cmaps > 0)
        TRY_CLEANUP(check_maps(ctx, md, io));
    for (size_t i = 0; i < n; i++)
        ids[i] = p[i].id;
    qsort(ids, n, sizeof *ids, compare_ids);
    for (int64_t first = 0; first < shape[0]; first += PIECE) {
        int64_t m = shape[0] - first < PIECE ? shape[0] - first : PIECE;
        struct state_array piece = state_rows(array_name, STATE_INT64, shape[0],
                                              first, m, (int64_t)width, rows);
        TRY_CLEANUP(state_get(ctx, io, &piece));
        TRY_CLEANUP(comm_agree(ctx, keep(ctx, md, rows, m, ids, n)));
    }
    topology_sort(md->topology);
cleanup:
    free(ids);
    free(rows);
    return status;
}
