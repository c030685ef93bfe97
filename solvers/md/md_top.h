/* md_top.h: a GROMACS topology as it is written.
 *
 * Numbers stand as in the file (nm, kJ/mol, degrees, elementary charges) until
 * md_top_build.c makes a struct md_data of them. Format: "Topologies" of the
 * GROMACS manual. Used by one rank.
 */
#ifndef WARPDECK_SOLVERS_MD_TOP_H
#define WARPDECK_SOLVERS_MD_TOP_H

#include "md_cmap.h"
#include "md_top_text.h"

struct md_data;

enum { TOP_VALUES_MAX = 8, TOP_ANY = -1 }; /* TOP_ANY: the type X */

/* Sections of a molecule that list what acts between its atoms. */
enum top_kind {
    TOP_BONDS,
    TOP_ANGLES,
    TOP_DIHEDRALS,
    TOP_PAIRS,
    TOP_CONSTRAINTS,
    TOP_SETTLES,
    TOP_CMAPS,
    TOP_KINDS
};
extern const char *const top_sections[TOP_KINDS];
/* Atoms of a line of the section. */
int top_size(int kind);

/* Names of types, numbered in the order in which they are met. */
struct top_names {
    char (*name)[TOP_NAME_MAX];
    int n, capacity;
};

struct top_atomtype {
    int name, bonded; /* in top.names */
    double mass, charge, v, w;
    char particle; /* A, V, S, ... */
};

/* [ nonbond_params ] and [ pairtypes ] */
struct top_pairtype {
    int a, b; /* names of atom types */
    double v, w;
};

/* [ bondtypes ] and the like: types of bonded atoms */
struct top_bondedtype {
    int type[4];
    int funct, n;
    double value[TOP_VALUES_MAX];
};

/* [ cmaptypes ]: a map, top.maps, of bonded types in this order */
enum { TOP_CMAP_ATOMS = 5 };
struct top_cmaptype {
    int type[TOP_CMAP_ATOMS];
    struct top_place place;
};

struct top_term {
    int32_t atom[TOP_CMAP_ATOMS]; /* of the molecule, from 0 */
    int funct, n;                 /* n = 0: to be looked up */
    double value[TOP_VALUES_MAX];
    struct top_place place;
};

struct top_atom {
    int type; /* name of its atom type */
    char name[TOP_NAME_MAX];
    int has_charge, has_mass;
    double charge, mass;
    struct top_place place;
};

struct top_molecule {
    char name[2 * TOP_NAME_MAX];
    int64_t nrexcl;
    struct top_atom *atoms;
    size_t n_atoms, cap_atoms;
    struct top_term *terms[TOP_KINDS];
    size_t n_terms[TOP_KINDS], cap_terms[TOP_KINDS];
    int32_t (*excluded)[2];
    size_t n_excluded, cap_excluded;
};

struct top_entry { /* a line of [ molecules ] */
    int molecule;
    int64_t count;
};

struct top {
    struct top_text text;
    int has_defaults, combination, generate_pairs;
    double fudge_lj, fudge_qq;
    struct top_names names;
    struct top_atomtype *types;
    size_t n_types, cap_types;
    struct top_pairtype *pairs[2]; /* nonbond_params, pairtypes */
    size_t n_pairs[2], cap_pairs[2];
    struct top_bondedtype *bonded[TOP_KINDS];
    size_t n_bonded[TOP_KINDS], cap_bonded[TOP_KINDS];
    struct top_cmaptype *cmaps; /* [maps.n] */
    size_t cap_cmaps;
    struct md_maps maps; /* kJ/mol */
    struct top_molecule *molecules;
    size_t n_molecules, cap_molecules;
    struct top_entry *entries;
    size_t n_entries, cap_entries;
    int64_t n_listed; /* atoms of these lines as they were read */
};

/* Read the file; top is all zero before. Call md_top_free() in any case.
 * definitions[n]: "NAME" or "NAME=VALUE". Errors: STATUS_INPUT with file, line
 * and section. */
int md_top_parse(struct ctx *ctx, const char *path, const char *const *folders,
                 size_t n_folders, const char *const *definitions,
                 size_t n_definitions, struct top *top);
void md_top_free(struct top *top);
/* Atoms of all molecules. */
int64_t md_top_atoms(const struct top *top);

/* Room for one entry more in a growing array. Errors: STATUS_MEMORY. */
int top_grow(struct top_text *t, void *array, size_t *capacity, size_t n,
             size_t size);

/* ---- md_top_types.c: types and their parameters ---- */
/* The number of a name; a new one where `add`, else -1 where it is not known.
 * -2: no memory. */
int top_name(struct top_names *names, const char *name, int add);
const struct top_atomtype *top_find_type(const struct top *top, int name);
/* Word w as a name of a type; "X" is any where `wild`. */
int top_read_name(struct top *top, int w, int wild, int *name);
/* A line of [ NAME ], one of the sections of types. *known = 0: no such
 * section. */
int top_read_types(struct top *top, int *known);
/* How many numbers a function of a section has; 0: none are needed; -1: it is
 * not computed here. */
int top_numbers(int kind, int funct);
/* Numbers from word w on into value, n of them; those of a second state, where
 * there are, have to be the same. 0 numbers: *n = 0. */
int top_read_numbers(struct top *top, int kind, int funct, int w, double *value,
                     int *n);
/* The entry for bonded types (names), [*n] of them one behind another; NULL:
 * there is none. */
const struct top_bondedtype *top_find_bonded(const struct top *top, int kind,
                                             int funct, const int *type,
                                             size_t *n);
const struct top_pairtype *top_find_pair(const struct top *top, int which,
                                         int a, int b);

/* ---- md_top_cmap.c: correction maps ---- */
/* A line of [ cmaptypes ]. */
int top_read_cmaptype(struct top *top);

/* ---- md_top_molecule.c: molecules ---- */
int top_read_molecule(struct top *top, int *known);

/* ---- md_top_build.c ---- */
/* Species, terms, coefficients and atoms without places, in units of the
 * system. Errors: STATUS_INPUT. */
struct top_scale {
    double length, energy, time, mass, charge;
};
int md_top_build(struct top *top, const struct top_scale *scale,
                 struct md_data *data);

#endif
