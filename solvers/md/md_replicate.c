/* md_replicate.c: see md_replicate.h. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "md_data.h"

static const double most = 1e15; /* exact as a double, far below 2^63 */

void md_replicate_read(struct params *p, struct md *md)
{
    struct md_replicate *r = &md->initial.replicate;
    double copies = 1;
    size_t n = 0;
    for (int d = 0; d < 3; d++)
        r->n[d] = 1;
    if (!params_is_set(p, "md.initial", "replicate"))
        return;
    if (!params_is_set(p, "md.initial", "read")) {
        params_error(p, "md.initial", "replicate",
                     "it makes copies of a start file, md.initial.read; of a "
                     "lattice md.initial.cells says how many");
        return;
    }
    const int64_t *given = params_ints(p, "md.initial", "replicate", &n);
    for (int d = 0; d < 3; d++) /* less than 1 has been said already */
        copies *= given[d] > 1 ? (double)given[d] : 1;
    if (copies > most)
        params_error(p, "md.initial", "replicate",
                     "that is more than 10^15 copies");
    for (int d = 0; d < 3 && copies <= most; d++)
        r->n[d] = given[d] > 1 ? given[d] : 1;
}

int64_t md_replicate_copies(const struct md *md)
{
    const int64_t *n = md->initial.replicate.n;
    return n[0] * n[1] * n[2];
}

static int check_count(struct ctx *ctx, const struct md *md, int64_t in_file)
{
    const int64_t *n = md->initial.replicate.n;
    if ((double)in_file * (double)md_replicate_copies(md) <= most)
        return 0;
    return FAIL(ctx, STATUS_INPUT,
                "md.initial.replicate = [%" PRId64 ", %" PRId64 ", %" PRId64
                "] of %" PRId64 " particles makes more than 10^15",
                n[0], n[1], n[2], in_file);
}

/* ---- where a copy stands ---- */

/* The copy that stands `image` boxes of the file beyond copy c, in the box of
 * all of them; *turns: how often that was left. */
static int64_t copy_beyond(int64_t c, int64_t image, int64_t n, int64_t *turns)
{
    int64_t at = c + image, left = ((at % n) + n) % n;
    *turns = (at - left) / n;
    return left;
}

/* A particle of the file becomes that of copy c, with its image in the box of
 * all. No digits are lost to images. */
static void move_to_copy(const int64_t n[3], const double edge[3],
                         const double tilt[3], const int64_t c[3],
                         struct md_particle *p)
{
    double m[3];
    for (int d = 0; d < 3; d++) {
        int64_t turns;
        m[d] = (double)copy_beyond(c[d], p->image[d], n[d], &turns);
        p->image[d] = (int32_t)turns;
        p->position[d] += m[d] * edge[d];
    }
    p->position[0] += m[1] * tilt[0] + m[2] * tilt[1];
    p->position[1] += m[2] * tilt[2];
}

static void next_copy(const int64_t n[3], int64_t c[3])
{
    for (int d = 0; d < 3; d++) {
        if (++c[d] < n[d])
            return;
        c[d] = 0;
    }
}

/* ---- a file that rank 0 has as a whole ---- */

/* From which copy of the first particle of a term to which one of each other:
 * so many further that each is nearest to the one before it, as in the file. */
static void find_ways(const struct md_data *data, const double edge[3],
                      const struct md_term *t, int64_t way[MD_TERM_MOST][3])
{
    const double *tilt = data->tilt;
    const struct md_particle *first = &data->atoms[t->id[0] - 1], *p = first;
    int64_t sum[3] = {0};
    for (int k = 0; k < md_term_size(t->kind); k++) {
        const struct md_particle *q = &data->atoms[t->id[k] - 1];
        double x[3];
        for (int d = 0; d < 3; d++)
            x[d] = q->position[d] - p->position[d];
        for (int d = 2; d >= 0; d--) {
            double turns = rint(x[d] / edge[d]);
            if (d == 2)
                x[1] -= turns * tilt[2];
            if (d > 0)
                x[0] -= turns * tilt[d - 1];
            sum[d] -= (int64_t)turns;
            way[k][d] = sum[d] + first->image[d] - q->image[d];
        }
        p = q;
    }
}

static void copy_terms(const struct md_data *data, const int64_t n[3],
                       const double edge[3], int64_t copies,
                       struct md_term *out)
{
    size_t all = data->n_all_terms;
    for (size_t i = 0; i < all; i++) {
        int64_t way[MD_TERM_MOST][3], c[3] = {0}, turns;
        find_ways(data, edge, &data->terms[i], way);
        for (int64_t number = 0; number < copies; number++, next_copy(n, c)) {
            struct md_term t = data->terms[i];
            for (int k = 0; k < md_term_size(t.kind); k++) {
                int64_t to[3];
                for (int d = 0; d < 3; d++)
                    to[d] = copy_beyond(c[d], way[k][d], n[d], &turns);
                t.id[k] +=
                    data->n_atoms * ((to[2] * n[1] + to[1]) * n[0] + to[0]);
            }
            out[(size_t)number * all + i] = t;
        }
    }
}

static void copy_atoms(const struct md_data *data, const int64_t n[3],
                       const double edge[3], int64_t copies,
                       struct md_particle *out)
{
    int64_t c[3] = {0};
    for (int64_t number = 0; number < copies; number++, next_copy(n, c))
        for (int64_t i = 0; i < data->n_atoms; i++) {
            struct md_particle *p = &out[number * data->n_atoms + i];
            *p = data->atoms[i];
            p->id += number * data->n_atoms;
            move_to_copy(n, edge, data->tilt, c, p);
        }
}

/* The header, which says what there is. */
static void count_copies(struct md_data *data, const int64_t n[3],
                         const double edge[3], int64_t copies)
{
    data->n_file_terms = data->n_all_terms;
    data->n_all_terms *= (size_t)copies;
    data->n_atoms *= copies;
    data->n_crossterms *= copies;
    for (int k = 0; k < MD_DATA_KINDS; k++)
        data->n_terms[k] *= copies;
    for (int s = 0; s < data->n_types; s++)
        data->count[s] *= copies;
    for (int d = 0; d < 3; d++)
        data->hi[d] = data->lo[d] + (double)n[d] * edge[d];
    data->tilt[0] *= (double)n[1];
    data->tilt[1] *= (double)n[2];
    data->tilt[2] *= (double)n[2];
}

int md_replicate_data(struct ctx *ctx, const struct md *md,
                      struct md_data *data)
{
    const int64_t *n = md->initial.replicate.n;
    int64_t copies = md_replicate_copies(md);
    double edge[3];
    if (copies == 1)
        return 0;
    TRY(check_count(ctx, md, data->n_atoms));
    struct md_particle *atoms =
        calloc((size_t)copies, (size_t)data->n_atoms * sizeof *atoms);
    struct md_term *terms =
        calloc((size_t)copies, (data->n_all_terms + 1) * sizeof *terms);
    if (!atoms || !terms) {
        free(atoms);
        free(terms);
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for %" PRId64 " copies of '%s'", copies,
                    data->path);
    }
    for (int d = 0; d < 3; d++)
        edge[d] = data->hi[d] - data->lo[d];
    copy_terms(data, n, edge, copies, terms);
    copy_atoms(data, n, edge, copies, atoms);
    free(data->atoms);
    free(data->terms);
    data->atoms = atoms;
    data->terms = terms;
    count_copies(data, n, edge, copies);
    return 0;
}

/* ---- a file that is read piece by piece ---- */

int md_replicate_counts(struct ctx *ctx, struct md *md, int has_box,
                        double length[3], double tilt[3])
{
    struct md_replicate *r = &md->initial.replicate;
    int64_t copies = md_replicate_copies(md);
    const int along[3] = {1, 2, 2}; /* whose copies add up to a tilt */
    TRY(check_count(ctx, md, md->n_particles));
    md->n_particles *= copies;
    for (int s = 0; s < md->n_species; s++)
        md->species[s].count *= copies;
    for (int k = 0; k < 2; k++)
        md->initial.charge_sums[k] *= (double)copies;
    for (int d = 0; d < 3; d++) {
        double edges = (double)r->n[d], leans = (double)r->n[along[d]];
        r->edge[d] = has_box ? length[d] : md->box_length[d] / edges;
        r->tilt[d] = has_box ? tilt[d] : md->tilt[d] / leans;
        length[d] *= edges;
        tilt[d] *= leans;
    }
    return 0;
}

int md_replicate_keep(struct ctx *ctx, const struct md *md,
                      const struct md_particle *piece, int64_t n,
                      struct md_list *list)
{
    const struct md_replicate *r = &md->initial.replicate;
    int64_t copies = md_replicate_copies(md), c[3] = {0};
    int64_t in_file = md->n_particles / copies;
    for (int64_t number = 0; number < copies; number++, next_copy(r->n, c))
        for (int64_t i = 0; i < n; i++) {
            struct md_particle p = piece[i];
            p.id += number * in_file;
            move_to_copy(r->n, r->edge, r->tilt, c, &p);
            md_wrap_read(md, &p);
            if (grid_owner(&md->grid, p.position) == md->grid.rank)
                TRY(md_list_add(ctx, list, &p));
        }
    return 0;
}
