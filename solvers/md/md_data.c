/* md_data.c: what a LAMMPS data file brings, to the ranks that need it. */
#include "md_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/topology.h"
#include "md.h"
#include "md_analysis.h"

enum { PIECE = 16384 }; /* atoms or terms sent at once */

int md_data_is(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    return strncmp(name, "data.", 5) == 0 ||
           (n > 5 && strcmp(name + n - 5, ".data") == 0) ||
           (n > 4 && strcmp(name + n - 4, ".lmp") == 0);
}

void md_data_free(struct md_data *data)
{
    if (!data)
        return;
    for (int k = 0; k < MD_DATA_KINDS; k++)
        free(data->coeff[k]);
    free(data->pair_ij);
    free(data->atoms);
    free(data->terms);
    free(data->special);
    free(data->lj);
    free(data->pairs14);
    md_maps_free(&data->maps);
    free(data->path);
    free(data);
}

/* Arrays of a topology. */
static int share_topology(struct ctx *ctx, struct md_data *data)
{
    size_t pairs = (size_t)data->n_types * (size_t)data->n_types;
    size_t pairs14 = (size_t)data->n_pairs14;
    int status = 0;
    if (!data->styled)
        return 0;
    if (!data->lj)
        data->lj = calloc(pairs, sizeof *data->lj);
    if (!data->pairs14)
        data->pairs14 = calloc(pairs14 + 1, sizeof *data->pairs14);
    if (!data->lj || !data->pairs14)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for coefficients");
    TRY(comm_agree(ctx, status));
    TRY(comm_bcast(ctx, data->lj, pairs * sizeof *data->lj));
    TRY(comm_bcast(ctx, data->pairs14, pairs14 * sizeof *data->pairs14));
    return md_maps_share(ctx, &data->maps);
}

/* "PairIJ Coeffs", where the reader has some. */
static int share_pairs(struct ctx *ctx, struct md_data *data)
{
    size_t n = md_data_ij(data->n_types, 0);
    int there = data->pair_ij != NULL, status = 0;
    TRY(comm_bcast(ctx, &there, sizeof there));
    if (!there)
        return 0;
    if (!data->pair_ij)
        data->pair_ij = calloc(n, sizeof *data->pair_ij);
    if (!data->pair_ij)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for coefficients");
    TRY(comm_agree(ctx, status));
    return comm_bcast(ctx, data->pair_ij, n * sizeof *data->pair_ij);
}

int md_data_share(struct ctx *ctx, struct md_data *data)
{
    struct md_data own = *data;
    int is_reader = comm_rank(ctx->comm) == 0, status = 0;
    TRY(comm_bcast(ctx, data, sizeof *data));
    /* Pointers are each rank's own. */
    data->path = own.path;
    data->atoms = own.atoms;
    data->terms = own.terms;
    data->lj = own.lj;
    data->pairs14 = own.pairs14;
    data->maps = own.maps;
    data->pair_ij = own.pair_ij;
    for (int k = 0; k < MD_DATA_KINDS; k++) {
        size_t n = (size_t)data->n_term_types[k] + 1;
        data->coeff[k] =
            is_reader ? own.coeff[k] : calloc(n, sizeof *data->coeff[k]);
        if (!data->coeff[k])
            status = FAIL(ctx, STATUS_MEMORY, "no memory for coefficients");
    }
    TRY(comm_agree(ctx, status));
    for (int k = 0; k < MD_DATA_KINDS; k++)
        TRY(comm_bcast(ctx, data->coeff[k],
                       ((size_t)data->n_term_types[k] + 1) *
                           sizeof *data->coeff[k]));
    TRY(share_pairs(ctx, data));
    return share_topology(ctx, data);
}

/* ---- atoms ---- */

static int keep_atoms(struct ctx *ctx, const struct md *md,
                      const struct md_particle *piece, size_t n,
                      struct md_list *list)
{
    for (size_t i = 0; i < n; i++) {
        struct md_particle p = piece[i];
        md_wrap_read(md, &p);
        if (grid_owner(&md->grid, p.position) == md->grid.rank)
            TRY(md_list_add(ctx, list, &p));
    }
    return 0;
}

static int place_atoms(struct ctx *ctx, const struct md *md,
                       const struct md_data *data, struct md_list *list)
{
    struct md_particle *piece = malloc(PIECE * sizeof *piece);
    int status = piece ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory for atoms");
    TRY_CLEANUP(comm_agree(ctx, status));
    for (int64_t first = 0; first < data->n_atoms; first += PIECE) {
        int64_t left = data->n_atoms - first;
        size_t n = left < PIECE ? (size_t)left : PIECE;
        if (data->atoms)
            memcpy(piece, data->atoms + first, n * sizeof *piece);
        TRY_CLEANUP(comm_bcast(ctx, piece, n * sizeof *piece));
        TRY_CLEANUP(comm_agree(ctx, keep_atoms(ctx, md, piece, n, list)));
    }
cleanup:
    free(piece);
    return status;
}

/* ---- terms ---- */

/* Which atoms are here, a bit for each id. */
static int mark_own(struct ctx *ctx, const struct md_data *data,
                    const struct md_list *list, unsigned char **here)
{
    *here = calloc((size_t)data->n_atoms / 8 + 1, 1);
    if (!*here)
        return FAIL(ctx, STATUS_MEMORY, "no memory to share out bonds");
    for (size_t i = 0; i < list->n; i++)
        (*here)[list->p[i].id / 8] |=
            (unsigned char)(1u << (list->p[i].id % 8));
    return 0;
}

int md_data_is_mark(const struct md *md, const struct md_term *term)
{
    return term->kind == MD_TERM_BOND &&
           md->bonded.bonds[term->type].style == MD_BOND_NONE &&
           !md_analysis_counts_bonds(md);
}

static int keep_terms(struct ctx *ctx, const struct md *md,
                      const struct md_term *piece, size_t n,
                      const unsigned char *here, struct topology *topology)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < md_term_size(piece[i].kind); k++) {
            int64_t id = piece[i].id[k];
            if (here[id / 8] >> (id % 8) & 1 && !md_data_is_mark(md, &piece[i]))
                TRY(topology_add(ctx, topology, id, &piece[i], 1));
        }
    return 0;
}

/* Terms of rank 0 (terms, n; NULL elsewhere) to those who have their atoms. */
static int share_terms(struct ctx *ctx, const struct md *md,
                       const struct md_term *terms, size_t n,
                       const unsigned char *here, struct topology *topology)
{
    int status = 0;
    uint64_t total = n;
    struct md_term *piece = malloc(PIECE * sizeof *piece);
    if (!piece)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(comm_bcast(ctx, &total, sizeof total));
    for (uint64_t first = 0; first < total; first += PIECE) {
        size_t m = total - first < PIECE ? (size_t)(total - first) : PIECE;
        if (terms)
            memcpy(piece, terms + first, m * sizeof *piece);
        TRY_CLEANUP(comm_bcast(ctx, piece, m * sizeof *piece));
        TRY_CLEANUP(
            comm_agree(ctx, keep_terms(ctx, md, piece, m, here, topology)));
    }
cleanup:
    free(piece);
    return status;
}

/* Whether a pair few bonds apart is as any other. */
static int is_plain(const struct md *md, const struct md_term *term)
{
    const struct md_force_field *f = &md->bonded.field;
    int charged = md->charged && f->coulomb.method != MD_COULOMB_NONE;
    return f->special_lj[term->type] >= 1 &&
           (!charged || f->special_coulomb[term->type] >= 1);
}

/* The ids of each bond, *n of them; the caller frees *pairs. */
static int list_bonds(struct ctx *ctx, const struct md_data *data,
                      int64_t (**pairs)[2], size_t *n)
{
    *n = 0;
    *pairs = malloc(((size_t)data->n_terms[MD_TERM_BOND] + 1) * sizeof **pairs);
    if (!*pairs)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    for (size_t i = 0; i < data->n_all_terms; i++)
        if (data->terms[i].kind == MD_TERM_BOND)
            memcpy((*pairs)[(*n)++], data->terms[i].id, sizeof **pairs);
    return 0;
}

/* Pairs that the bonds of the whole system exclude or change. */
static int find_special(struct ctx *ctx, const struct md *md,
                        struct md_data *data)
{
    size_t bonds, all;
    int64_t(*pairs)[2];
    TRY(list_bonds(ctx, data, &pairs, &bonds));
    int status =
        topology_special(ctx, data->n_atoms, bonds, (const int64_t(*)[2])pairs,
                         &data->special, &all);
    free(pairs);
    for (size_t i = 0; i < all && status == 0; i++)
        if (!is_plain(md, &data->special[i]))
            data->special[data->n_special++] = data->special[i];
    return status;
}

int md_data_special(struct ctx *ctx, const struct md *md, struct md_data *data)
{
    if (!data->styled && !data->special)
        return find_special(ctx, md, data);
    data->n_special = data->styled ? 0 : data->n_special;
    for (size_t i = 0; i < data->n_all_terms && data->styled; i++)
        data->n_special += data->terms[i].kind == MD_TERM_SPECIAL;
    return 0;
}

/* The shortest way through the box of the file. */
static double shortest_in_file(const struct md *md)
{
    double shortest = HUGE_VAL, width[3];
    md_box_widths(md, width);
    for (int d = 0; d < 3; d++)
        if (!md->open.on[d])
            shortest =
                fmin(shortest, width[d] / (double)md->initial.replicate.n[d]);
    return shortest;
}

double md_data_distance(const struct md *md, int64_t a, int64_t b)
{
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = md->data->atoms[b - 1].position[d] -
               md->data->atoms[a - 1].position[d];
    md_nearest(md, x);
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* A bond of more than half the box is nearer to another image of its particle:
 * a wrong id, or a box that is not the file's. Rank 0. */
static int check_bond(struct ctx *ctx, const struct md *md,
                      const struct md_data *data, size_t term)
{
    const struct md_term *t = &data->terms[term];
    const struct md_bond_coeff *c = &md->bonded.bonds[t->type];
    double most = 0.5 * shortest_in_file(md);
    double length = md_data_distance(md, t->id[0], t->id[1]);
    if (!(length > 0))
        return md_data_fail(ctx, data, term,
                            "atoms %" PRId64 " and %" PRId64
                            " are bound and stand on one spot",
                            t->id[0], t->id[1]);
    if (length > most)
        return md_data_fail(ctx, data, term,
                            "the bond of atoms %" PRId64 " and %" PRId64
                            " is %.6g long, more than half the box, %.6g",
                            t->id[0], t->id[1], length, most);
    if (c->style == MD_BOND_FENE && length >= c->r0)
        return md_data_fail(ctx, data, term,
                            "the FENE bond of atoms %" PRId64 " and %" PRId64
                            " is %.6g long, and breaks at %.6g",
                            t->id[0], t->id[1], length, c->r0);
    return 0;
}

static int check_bonds(struct ctx *ctx, const struct md *md,
                       const struct md_data *data)
{
    for (size_t i = 0; i < data->n_all_terms; i++)
        if (data->terms[i].kind == MD_TERM_BOND)
            TRY(check_bond(ctx, md, data, i));
    return 0;
}

/* A bond: its ids in order, and which of the terms it is. */
struct listed {
    int64_t id[2];
    size_t term;
};

static int same_ids(const struct listed *a, const struct listed *b)
{
    return a->id[0] == b->id[0] && a->id[1] == b->id[1];
}

static int compare_listed(const void *a, const void *b)
{
    const struct listed *p = a, *q = b;
    for (int k = 0; k < 2; k++)
        if (p->id[k] != q->id[k])
            return p->id[k] < q->id[k] ? -1 : 1;
    return p->term < q->term ? -1 : p->term > q->term;
}

/* Bonds that stand twice in a LAMMPS data file count twice, there as here; more
 * often than not the file was put together wrongly. A topology may have
 * restraints beside bonds. Rank 0. */
static int warn_of_twins(struct ctx *ctx, const struct md_data *data)
{
    size_t n = 0, first = 0, twins = 0;
    if (data->styled)
        return 0;
    struct listed *list =
        malloc(((size_t)data->n_terms[MD_TERM_BOND] + 1) * sizeof *list);
    if (!list)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    for (size_t i = 0; i < data->n_all_terms; i++) {
        const int64_t *id = data->terms[i].id;
        int turned = id[0] > id[1];
        if (data->terms[i].kind == MD_TERM_BOND)
            list[n++] = (struct listed){{id[turned], id[!turned]}, i};
    }
    qsort(list, n, sizeof *list, compare_listed);
    for (size_t i = 1; i < n; i++)
        if (same_ids(&list[i - 1], &list[i]) && twins++ == 0)
            first = i;
    if (twins > 0)
        log_warn(ctx->log,
                 "%s:%" PRId64 ": Bonds: the bond of atoms %" PRId64
                 " and %" PRId64
                 " stands more than once, and counts as often%s",
                 data->path, md_data_line(ctx, data, list[first].term),
                 list[first].id[0], list[first].id[1],
                 twins > 1 ? ", as do others" : "");
    free(list);
    return 0;
}

static int place_terms(struct ctx *ctx, const struct md *md,
                       struct md_data *data, const struct md_list *list,
                       struct topology *topology)
{
    int is_reader = comm_rank(ctx->comm) == 0, status;
    unsigned char *here = NULL;
    struct md_term *groups = NULL;
    const struct md_term *terms = data->terms;
    size_t n_terms = is_reader ? data->n_all_terms : 0;
    status = mark_own(ctx, data, list, &here);
    if (status == 0 && is_reader)
        status = check_bonds(ctx, md, data);
    if (status == 0 && is_reader)
        status = md_cmap_check(ctx, md);
    if (status == 0 && is_reader)
        status = warn_of_twins(ctx, data);
    if (status == 0 && is_reader)
        status = md_data_special(ctx, md, data);
    if (status == 0 && is_reader && md->rigid.on) {
        status = md_rigid_groups(ctx, md, data, &groups, &n_terms);
        terms = groups;
    }
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(share_terms(ctx, md, terms, n_terms, here, topology));
    TRY_CLEANUP(share_terms(ctx, md, data->special,
                            data->special ? data->n_special : 0, here,
                            topology));
    topology_sort(topology);
cleanup:
    free(here);
    free(groups);
    return status;
}

int md_data_place(struct ctx *ctx, const struct md *md, struct md_data *data,
                  struct md_list *list, struct topology *topology)
{
    TRY(place_atoms(ctx, md, data, list));
    return topology ? place_terms(ctx, md, data, list, topology) : 0;
}
