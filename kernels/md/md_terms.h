/* md_terms.h: what acts between particles beside the plain pair: terms along
 * bonds, pairs that bonds exclude or scale, and charges.
 *
 * A term names its particles by id. It is known on every rank that owns one of
 * them, is computed there once, and gives forces to own particles only: no
 * force ever travels. Its energy and virial count by the share of its particles
 * that are own, so that the sum over ranks is the whole. That is LAMMPS's
 * "newton off" for bonds; it costs a few terms twice at faces and saves a
 * message each step.
 *
 * Units are the deck's; angles are in radians.
 */
#ifndef WARPDECK_KERNELS_MD_TERMS_H
#define WARPDECK_KERNELS_MD_TERMS_H

#include <stdint.h>

enum md_term_kind {
    MD_TERM_BOND,     /* i - j */
    MD_TERM_ANGLE,    /* i - j - k, j in the middle */
    MD_TERM_DIHEDRAL, /* i - j - k - l along the chain */
    MD_TERM_IMPROPER, /* i in the middle of j, k, l for the harmonic one of
                       * LAMMPS; the order of the file is kept */
    MD_TERM_SPECIAL,  /* i, j: 1, 2 or 3 bonds apart: type 0, 1, 2 */
    /* Groups of rigid bonds from the first particle, in place of the terms that
     * give their lengths; type: that of the first bond + n_bonds (that of the
     * second + n_bonds that of the third). Water: two bonds, and the angle
     * between them in place of a third. */
    MD_TERM_RIGID_BOND,
    MD_TERM_RIGID_PAIR,
    MD_TERM_RIGID_WATER,
    MD_TERM_RIGID_THREE,
    MD_TERM_PAIR14, /* i, j: a pair with coefficients of its own */
    MD_TERM_CMAP,   /* i - j - k - l - m along the chain, two dihedrals */
    MD_TERM_KINDS
};

enum { MD_TERM_MOST = 5 }; /* particles of a term */

/* How many particles a term of each kind has. */
static inline int md_term_size(int kind)
{
    static const int sizes[MD_TERM_KINDS] = {2, 3, 4, 4, 2, 2, 3, 3, 4, 2, 5};
    return sizes[kind];
}

/* Whether it is a group of rigid bonds. */
static inline int md_term_is_rigid(int kind)
{
    return kind >= MD_TERM_RIGID_BOND && kind <= MD_TERM_RIGID_THREE;
}

struct md_term {
    int64_t id[MD_TERM_MOST]; /* unused: 0 */
    int32_t kind;             /* enum md_term_kind */
    int32_t type;             /* 0, 1, ...: into the coefficients of its kind */
};

/* ---- coefficients ---- */

enum md_bond_style {
    MD_BOND_NONE,     /* no force: only a mark of who is bound to whom */
    MD_BOND_HARMONIC, /* u = k (r - r0)^2 */
    MD_BOND_FENE,     /* u = -k r0^2 / 2 ln(1 - (r / r0)^2) + 4 eps ((s/r)^12 -
                       * (s/r)^6) + eps for r < 2^(1/6) s: Kremer and Grest 1990 */
    MD_BOND_MORSE     /* u = d (1 - exp(-a (r - r0)))^2 */
};
struct md_bond_coeff {
    enum md_bond_style style;
    double k, r0;          /* morse: k = d */
    double a;              /* morse */
    double epsilon, sigma; /* fene */
};

enum md_angle_style {
    MD_ANGLE_NONE,
    MD_ANGLE_HARMONIC, /* u = k (theta - theta0)^2 */
    MD_ANGLE_CHARMM,   /* the same + k_ub (r_ik - r_ub)^2, Urey-Bradley */
    MD_ANGLE_COSINE    /* u = k (1 + cos theta) */
};
struct md_angle_coeff {
    enum md_angle_style style;
    double k, theta0, k_ub, r_ub;
};

enum md_dihedral_style {
    MD_DIHEDRAL_NONE,
    MD_DIHEDRAL_CHARMM, /* u = k (1 + cos(n phi - delta)), and the 1-4 pair
                         * i, l with LJ of its own and plain Coulomb, both
                         * times `weight` */
    MD_DIHEDRAL_OPLS,   /* u = sum_{n=1..4} c[n-1] / 2 (1 - (-1)^n cos n phi) */
    MD_DIHEDRAL_MULTI   /* u = sum_{n=0..5} c[n] cos^n phi */
};
struct md_dihedral_coeff {
    enum md_dihedral_style style;
    double k, delta, weight;
    int32_t n;
    double c[6];
};

enum md_improper_style {
    MD_IMPROPER_NONE,
    MD_IMPROPER_HARMONIC, /* u = k (chi - chi0)^2, chi between planes ijk, jkl
                           * (LAMMPS's harmonic) */
    MD_IMPROPER_CVFF,     /* u = k (1 + d cos(n phi)) */
    MD_IMPROPER_SIGNED    /* u = k (phi - chi0)^2, the difference within half a
                           * turn: GROMACS's harmonic */
};
struct md_improper_coeff {
    enum md_improper_style style;
    double k, chi0;
    int32_t d, n;
};

/* LJ of a 1-4 pair by species, [n_species][n_species]. */
struct md_lj14 {
    double c12, c6;
};

/* A pair with Lennard-Jones and plain Coulomb of its own, at any distance:
 * u = c12 / r^12 - c6 / r^6 + C (weight q_i q_j + qq) / r. */
struct md_pair14 {
    double c12, c6, weight, qq;
};

/* A correction map (cmap.h): n x n nodes from `first` on, phi the slow angle,
 * both from -180 degrees. */
struct md_cmap {
    int32_t n, first;
};
/* The energy, and what it changes by per step of the grid. */
struct md_cmap_node {
    double u, by_phi, by_psi, by_both;
};

/* ---- charges ---- */

enum md_coulomb_method {
    MD_COULOMB_NONE,
    MD_COULOMB_CUT,  /* plain, dropped at the cutoff */
    MD_COULOMB_DSF,  /* damped shifted force: Fennell and Gezelter 2006 */
    MD_COULOMB_EWALD /* real-space part of an Ewald sum; the rest is a mesh's */
};
struct md_coulomb {
    enum md_coulomb_method method;
    double constant; /* q q / (4 pi epsilon_0 r) in the deck's units */
    double cutoff;
    double alpha; /* of dsf and Ewald, per length */
};

/* What all terms are made of; arrays are copied by create(). */
struct md_force_field {
    int n_bonds, n_angles, n_dihedrals, n_impropers; /* types */
    const struct md_bond_coeff *bonds;
    const struct md_angle_coeff *angles;
    const struct md_dihedral_coeff *dihedrals;
    const struct md_improper_coeff *impropers;
    const struct md_lj14 *lj14; /* NULL: as other pairs */
    int n_pairs14;              /* types */
    const struct md_pair14 *pairs14;
    int n_cmaps, n_cmap_nodes; /* types; nodes of all of them */
    const struct md_cmap *cmaps;
    const struct md_cmap_node *cmap_nodes;
    /* Of LJ and Coulomb between particles 1, 2 and 3 bonds apart: 0 excludes,
     * 1 is as for all others. */
    double special_lj[3], special_coulomb[3];
    struct md_coulomb coulomb;
    /* CHARMM's switch of LJ between this and the cutoff; 0: none. */
    double switch_from;
};

/* ---- sums by term ---- */

enum md_energy {
    MD_ENERGY_PAIR, /* Lennard-Jones and other short pairs, 1-4 as well */
    MD_ENERGY_COULOMB,
    MD_ENERGY_BOND,
    MD_ENERGY_ANGLE, /* with Urey-Bradley */
    MD_ENERGY_DIHEDRAL,
    MD_ENERGY_IMPROPER,
    MD_ENERGY_CMAP,      /* correction maps */
    MD_ENERGY_MESH,      /* Ewald: reciprocal, self and net charge */
    MD_ENERGY_EMBEDDING, /* of the embedded-atom method */
    MD_ENERGY_WALL,
    MD_ENERGY_FIELD,
    MD_ENERGIES
};

#endif
