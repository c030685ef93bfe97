/* md_eam.h: tables of the embedded-atom method, as files have them.
 *
 * Two formats of DYNAMO, which LAMMPS reads as "eam" and "eam/alloy" and
 * documents under these pair styles: funcfl, one element a file, whose pair
 * function is a product of effective charges; and setfl, several elements and
 * the functions of their pairs.
 */
#ifndef WARPDECK_SOLVERS_MD_EAM_H
#define WARPDECK_SOLVERS_MD_EAM_H

#include <stddef.h>

#include "md.h"

enum { MD_EAM_ELEMENTS_MAX = 64, MD_EAM_POINTS_MAX = 10000000 };

/* The content of one file, on its own grids. In eV and angstrom. */
struct md_eam_file {
    const char *path;
    int n_elements;                                 /* 1 of funcfl */
    char element[MD_EAM_ELEMENTS_MAX][MD_NAME_MAX]; /* "" of funcfl */
    double mass[MD_EAM_ELEMENTS_MAX];               /* g/mol */
    int elements_line;                              /* where they are named */
    int n_rho, n_r;
    double rho_step, r_step, cutoff;
    double *embedding; /* [n_elements][n_rho] */
    double *density;   /* [n_elements][n_r] */
    double *charge;    /* funcfl: [n_r], effective, in elementary charges */
    double *pair;      /* setfl: [eam_pairs(n_elements)][n_r], r phi */
};

/* Read and check a file. Not collective. Errors: STATUS_INPUT "file:line: ...".
 * The path is borrowed; the arrays are owned, also after an error. */
int md_eam_parse(struct ctx *ctx, const char *path, int is_setfl,
                 struct md_eam_file *out);
void md_eam_file_free(struct md_eam_file *f);

#endif
