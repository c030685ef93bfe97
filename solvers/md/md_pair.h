/* md_pair.h: pair potentials beside Lennard-Jones alone: forms by species pair,
 * files with tables of forces, and the polynomials that stand for all of them.
 */
#ifndef WARPDECK_SOLVERS_MD_PAIR_H
#define WARPDECK_SOLVERS_MD_PAIR_H

#include "kernels/md/pair_table.h"
#include "md.h"

/* All that md.pair.tables of the kernels borrows; the arrays are owned. */
struct md_forms {
    struct md_pair_tables tables;
    struct md_pair_form *form; /* [n_species][n_species] */
    int *table;
    double *force, *energy;
    struct md_spline *spline; /* [n_species][n_species], n = 0: none */
    int may_fall;             /* a pair has no end of its attraction at zero */
};

/* ---- md_pair_text.c ---- */
/* A section of a file with tables, in LAMMPS's format (pair_style table). */
struct md_pair_file {
    const char *path, *keyword;
    int64_t head_line; /* of "N ... R ..." */
    int n;
    double *r, *force, *energy; /* [n] */
    int has_slopes;
    double slope[2]; /* dF/dr at the first and the last point (FPRIME) */
};

/* Read and check the section. Not collective. Errors: STATUS_INPUT "file:line:
 * ...". Path and keyword are borrowed; the arrays are owned, also after an
 * error. */
int md_pair_parse(struct ctx *ctx, const char *path, const char *keyword,
                  struct md_pair_file *out);
void md_pair_file_free(struct md_pair_file *f);

/* ---- md_pair_table.c ---- */
/* A spline through the points of a file, whose arrays it takes over: f has none
 * afterwards. The energies of the file are compared with the integral of its
 * forces; *worst: the greatest difference relative to |u| + |f| r there or
 * farther out. Errors: STATUS_INPUT where they contradict each other,
 * STATUS_MEMORY. */
int md_pair_spline(struct ctx *ctx, struct md_pair_file *f,
                   struct md_spline *out, double *worst);
void md_pair_spline_free(struct md_spline *s);
/* The tables of forms->form for this precision, as fine as they need to be, and
 * how good they are. Errors: STATUS_INPUT where the finest is not good enough,
 * STATUS_MEMORY. */
int md_pair_tables_make(struct ctx *ctx, const struct md *md,
                        struct md_forms *forms);

#endif
