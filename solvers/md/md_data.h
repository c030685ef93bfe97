/* md_data.h: a system from a LAMMPS data file, or a GROMACS topology
 * (md_gro.h).
 *
 * Rank 0 reads the whole file once (md_data_parse); everybody then knows its
 * header and its coefficients, and gets particles and terms piece by piece
 * (md_data_share, md_data_place). Format: "read_data" of the LAMMPS manual.
 */
#ifndef WARPDECK_SOLVERS_MD_DATA_H
#define WARPDECK_SOLVERS_MD_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/md/md_kernels.h"
#include "kernels/md/md_terms.h"
#include "md_cmap.h"

struct ctx;
struct md;
struct md_list;
struct topology;

enum {
    MD_DATA_VALUES_MAX = 8, /* numbers of one line of coefficients */
    MD_DATA_LABEL_MAX = 32
};

/* Kinds of terms that a file lists: MD_TERM_BOND to MD_TERM_IMPROPER. */
enum { MD_DATA_KINDS = 4 };

/* One line of "Pair Coeffs", "Bond Coeffs" and so on. */
struct md_data_coeff {
    int n;        /* 0: the file has none */
    int64_t line; /* of the file; 0: from elsewhere */
    int entry;    /* where line is 0: which section of the deck */
    int style;    /* of md_terms.h, where md_data.styled */
    int rigid;    /* the same: bonds and angles of fixed length */
    double value[MD_DATA_VALUES_MAX];
};

struct md_data {
    /* known to all ranks after md_data_share() */
    int64_t n_atoms, n_terms[MD_DATA_KINDS];
    int64_t n_crossterms; /* of correction maps: MD_TERM_CMAP */
    int32_t n_types, n_term_types[MD_DATA_KINDS];
    double lo[3], hi[3];
    double tilt[3]; /* xy, xz, yz */
    int charged, has_velocities;
    char hint[1 + MD_DATA_KINDS][MD_DATA_LABEL_MAX]; /* "Pair Coeffs # lj/cut":
                                                      * the style, or "" */
    double mass[MD_SPECIES_MAX];                     /* 0: not given */
    char label[MD_SPECIES_MAX][MD_DATA_LABEL_MAX];
    int64_t count[MD_SPECIES_MAX];
    struct md_data_coeff pair[MD_SPECIES_MAX];
    /* "PairIJ Coeffs", [md_data_ij(n_types, 0)], or NULL: there are none */
    struct md_data_coeff *pair_ij;
    struct md_data_coeff *coeff[MD_DATA_KINDS]; /* [n_term_types] */
    /* A topology of GROMACS: each type has its style, pairs of species have
     * Lennard-Jones of their own, and excluded pairs stand among the terms. */
    int styled;
    int32_t n_pairs14;
    double (*lj)[2]; /* [n_types][n_types]: c12, c6 */
    struct md_pair14 *pairs14;
    struct md_maps
        maps; /* correction maps; of a topology, or the deck's file */
    char *path;
    /* rank 0 */
    struct md_particle *atoms; /* [n_atoms], by line; as the file has them */
    struct md_term *terms;     /* of all kinds, in the file's order */
    size_t n_all_terms;
    size_t n_file_terms;     /* where there are copies: of one; else 0 */
    struct md_term *special; /* see md_data_special(); NULL: not looked for */
    size_t n_special;
};

/* Where the pair of types a and b (from 0) stands in pair_ij. */
static inline size_t md_data_ij(int32_t a, int32_t b)
{
    size_t i = (size_t)(a > b ? a : b), j = (size_t)(a > b ? b : a);
    return i * (i + 1) / 2 + j;
}

/* Whether a path names a data file: "x.data", "data.x", "x.lmp". */
int md_data_is(const char *path);

/* Read and check the file. style: "auto", or an atom style of LAMMPS. Not
 * collective. Errors: STATUS_INPUT "file:line: ...", with the section. */
int md_data_parse(struct ctx *ctx, const char *path, const char *style,
                  struct md_data *data);
/* What rank 0 has parsed, but atoms and terms, to all. Collective. */
int md_data_share(struct ctx *ctx, struct md_data *data);
void md_data_free(struct md_data *data);

/* The line of the data file that lists data->terms[term]; 0: nobody knows, as
 * of a topology. Rank 0; not collective. */
int64_t md_data_line(struct ctx *ctx, const struct md_data *data, size_t term);
/* STATUS_INPUT with that line: "file:line: error: Bonds: ...". The same. */
int md_data_fail(struct ctx *ctx, const struct md_data *data, size_t term,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* How far two atoms of md->data are apart, by ids: of the nearest images, where
 * there are some. Rank 0. */
double md_data_distance(const struct md *md, int64_t a, int64_t b);

/* The pairs that bonds exclude or scale: those among the terms of a topology,
 * else what the bonds of a data file make of them. Rank 0; not collective. */
int md_data_special(struct ctx *ctx, const struct md *md, struct md_data *data);

/* Whether a term only says who is bound to whom: a bond of style none whose
 * length nobody counts. Ranks do not have these, since they may be of any
 * length. */
int md_data_is_mark(const struct md *md, const struct md_term *term);

/* Each rank's particles (wrapped into the box) into the list, and their terms
 * and excluded pairs into the topology, where there is one. Collective. */
int md_data_place(struct ctx *ctx, const struct md *md, struct md_data *data,
                  struct md_list *list, struct topology *topology);

#endif
