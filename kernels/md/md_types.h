/* md_types.h: what a solver and a backend of molecular dynamics tell each
 * other: particles, the set-up of a store, sums, boxes, baths. The calls
 * themselves are in md_kernels.h.
 */
#ifndef WARPDECK_KERNELS_MD_TYPES_H
#define WARPDECK_KERNELS_MD_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/md/md_mesh.h"
#include "kernels/md/md_outer.h"
#include "kernels/md/md_terms.h"

struct ctx;
struct md_eam;
struct md_pair_tables;
struct md_store;

enum { MD_SPECIES_MAX = 256 };

/* A particle as it travels: at the start, between ranks, to output. Positions
 * are inside the box; image counts how often it was wrapped. */
struct md_particle {
    double position[3];
    double velocity[3];
    double charge; /* 0 where md_setup.charged is not set */
    int64_t id;    /* 1, 2, ... as in the input */
    int32_t image[3];
    int32_t species; /* 0, 1, ... */
};

/* A particle exactly as its slot in the store has it: the position may lie a
 * little outside of box and block, as the list was built some steps ago. */
struct md_slot {
    struct md_particle p;
    double listed[3]; /* position when the list was built */
    float moved[3];   /* way since then, as kick_drift() sums it up */
};

/* Lennard-Jones between two species, ready to use:
 *     u(r)   = c12 r^-12 - c6 r^-6 - shift + force_shift (r - rc)
 *     f(r)/r = (12 c12 r^-12 - 6 c6 r^-6) / r^2 - force_shift / r
 * for r2 < cutoff2; force_shift is 0 unless the linear force shift is used. */
struct lj_coeff {
    double c12, c6, cutoff2, shift, force_shift, cutoff;
};

/* Whether a card launches the kernels of a step together, as CUDA graphs; auto:
 * where there are too few particles to keep it busy. */
enum md_graphs { MD_GRAPHS_AUTO, MD_GRAPHS_ON, MD_GRAPHS_OFF };

/* Who computes a pair with a halo copy. WHOLE: both ranks. HALF_PAIRS: the one
 * that has the other's copy from above, in its list, and the force on the copy
 * is sent home; terms and pair_virial() look at those from below. HALF_COPIES:
 * there are no copies from below. Not for dpd_pairs(), and only in a backend
 * that has pack_forces(). */
enum md_half { MD_WHOLE, MD_HALF_PAIRS, MD_HALF_COPIES };

struct md_setup {
    double box_lo[3], box_length[3];
    double lo[3], hi[3]; /* this rank's block */
    int cut[3];          /* 1 where the box is cut among ranks (halo), has walls
                          * or a tilt, 0 where this rank spans the periodic box
                          * (shifts) */
    int whole;           /* this rank has the whole box: nobody leaves it */
    enum md_half half;
    int tilted;         /* the box has a tilt, be it 0; then all are cut. A
                         * backend without refuses it in create() */
    double tilt[3];     /* xy, xz, yz: see wrap.h */
    double list_radius; /* cutoff + skin, for the pair list */
    double halo_radius; /* >= list_radius: how far halo copies reach */
    int n_species;
    double mass[MD_SPECIES_MAX];
    const struct lj_coeff *coeff; /* [n_species * n_species], copied */
    int force_shift;              /* any coeff has force_shift != 0 */
    double acceleration;          /* unit factor: a = acceleration * f / m */
    double expected_count;        /* particles on this rank, a hint */
    uint64_t seed;
    int deterministic; /* sums are the same in any order; not every backend */
    enum md_graphs graphs;
    int timed;   /* pair_seconds() is wanted; then no graphs */
    int charged; /* particles carry charges */
    int apart;   /* whom bonds keep apart must not be in the pair list */
    /* Terms beside plain Lennard-Jones, NULL: none. Its arrays are copied. A
     * backend without them refuses it in create(). */
    const struct md_force_field *field;
    /* The embedded-atom method in place of Lennard-Jones (eam.h), or NULL. Its
     * arrays are copied. A backend without it refuses it in create(). */
    const struct md_eam *eam;
    /* Pair potentials in place of Lennard-Jones (pair_table.h), or NULL;
     * borrowed. A backend without them refuses it in create(). */
    const struct md_pair_tables *tables;
    /* Groups that moments() leaves out where they are held; borrowed, or NULL.
     */
    const struct md_outer *outer;
};

/* Where halo copies go: everything within `radius` of the block [lo, hi) as
 * seen from the sender (already shifted back by the image) is sent; shift is
 * added to the position; origin is the receiver's coordinate origin. above: to
 * the receiver these copies come from above, whose block is the later one by z,
 * y, x. Of two blocks each is above or below the other, and never both. */
struct md_channel {
    double lo[3], hi[3];
    double shift[3];
    double receiver_lo[3], receiver_hi[3]; /* the receiver's block */
    int image[3]; /* of the box, in which the block stands */
    int above;
};

/* Sums of one force evaluation on this rank; a pair with a halo copy counts
 * half (with setup.half: wholly), and a term by its share of
 * own particles, so that the sum over ranks is the whole. */
struct md_sums {
    double energy; /* potential, all of it */
    double virial; /* sum over pairs of r . f */
    /* The same by directions, sum of r_a f_b: xx, yy, zz, xy, xz, yz; where
     * with_tensor was set before the call, which costs time. */
    int with_tensor;
    /* Set before the call where energies are of no use: some may be missing
     * then, of some pairs or all. */
    int virial_only;
    int later; /* they may be added by finish_sums() only */
    double tensor[6];
    /* The parts of `energy`; all but MD_ENERGY_PAIR stay as they are where
     * there is no md_force_field. */
    double part[MD_ENERGIES];
};

struct md_moments {
    double kinetic;     /* sum m v^2 / 2, in mass * velocity^2 */
    double momentum[3]; /* sum m v */
    double mass;
};

/* The length of a box, from minus half of it, along a direction in which nobody
 * is ever wrapped and no bond goes through a face. */
#define MD_OPEN_LENGTH 1e30

/* The box from now on, of which all that depends on it follows. */
struct md_geometry {
    double box_length[3]; /* box_lo stays */
    double tilt[3];
    double lo[3], hi[3]; /* this rank's block */
    int n_channels;      /* those of the last select_halo() */
    const struct md_channel *channels;
};

/* A step's first half in a box that changes, direction by direction:
 *     v = after (before v + a dt_kick); x += v dt_half;
 *     the box, x in proportion from box_lo; v *= middle; x += v dt_half. */
struct md_stretch {
    double before[3], dt_kick, after[3], dt_half, middle[3];
    const struct md_geometry *box;
};

/* A step's first half in a box that is sheared: the flow carries particles
 * along direction `along` in proportion to their height in direction `across`,
 * and velocities are those beside it:
 *     v = after (before v + a dt_kick); x += v dt_half;
 *     the box, x_along += strain (x_across - box_lo), x_third in proportion;
 *     v_along -= strain v_across; v *= middle; x += v dt_half. */
struct md_shear {
    int along, across, third;
    double strain, dt_kick, dt_half;
    double before[3], after[3], middle[3];
    const struct md_geometry *box;
};

/* Baths of particles: friction (1 / time) by species, and kT in mass *
 * velocity^2; and the groups, of which some have their own. Borrowed; friction
 * is the same as long as a store lives. */
struct md_bath {
    const double *friction;
    double kt;
    const struct md_outer *groups;
};

/* Friction and noise between pairs, below each pair's cutoff: gamma in mass /
 * time by species, [n_species][n_species], the same as long as a store lives;
 * kT as above. Borrowed. */
struct md_dpd {
    const double *gamma;
    double kt, dt;
    uint64_t step;
};

/* What pack_values() sends of the particles that have copies. */
enum md_value { MD_VALUE_POSITION, MD_VALUE_VELOCITY, MD_VALUE_ACCELERATION };

/* A pair of particles too close to one another. */
struct md_close_pair {
    int found;
    int64_t id[2];
    double distance;
};

/* For the closing table and the bench. */
struct md_counters {
    uint64_t lists_built;
    size_t bytes;    /* memory held by the store now */
    double moved;    /* bytes that all loops so far had to read and write, each
                      * array of each call once; 0: not counted */
    uint64_t graphs; /* graphs launched */
    uint64_t calls;  /* of steps, that could wait for those of other stores */
    uint64_t joint;  /* those that were launched with these */
};

#endif
