/* md_outer.h: what acts on particles from outside: walls at faces of the box,
 * constant fields, and what is done to groups of particles.
 */
#ifndef WARPDECK_KERNELS_MD_OUTER_H
#define WARPDECK_KERNELS_MD_OUTER_H

#include <stddef.h>
#include <stdint.h>

/* A card's loops want these as functions of a card. */
#ifndef OUTER_FN
#define OUTER_FN static inline __attribute__((unused))
#endif

enum md_wall_style {
    MD_WALL_REFLECT,  /* no force: velocities are mirrored at the face */
    MD_WALL_HARMONIC, /* u = a (rc - r)^2 */
    MD_WALL_LJ93      /* u = a (2/15 (s/r)^9 - (s/r)^3) - u(rc): half a space of
                       * evenly spread Lennard-Jones particles */
};

/* Faces: 2 d for the lower one of direction d, 2 d + 1 for the upper. */
enum { MD_FACES = 6 };

/* A potential in front of a face, of the distance r < cutoff from it. */
struct md_wall {
    enum md_wall_style style;
    int face;
    double a, sigma, cutoff, shift;
    const unsigned char *acts; /* [n_species]: on whom; borrowed */
};

/* Particles that are of a species, have an id from first to last, and are among
 * the members where those are listed. */
struct md_group {
    const unsigned char *has; /* [n_species]; borrowed */
    int64_t first, last;
    const int64_t *member; /* bit (id - 1) % 64 of word (id - 1) / 64; borrowed.
                            * NULL: all */
    int64_t n_words;       /* of member */
    double friction;       /* to a bath, 1 / time; below 0: that of others */
    double thermal;        /* kT of its bath in mass * velocity^2; as above */
    int held;              /* the velocity is given; no force changes it */
    double velocity[3];
    double force[3]; /* on each particle, beside all others */
};

struct md_outer {
    int walled[3];       /* both faces of this direction are walls */
    int closed;          /* nobody is mirrored: whoever gets there is lost */
    double lo[3], hi[3]; /* the faces */
    int n_walls;
    const struct md_wall *walls;   /* borrowed */
    double acceleration[3];        /* of every particle, length / time^2 */
    double electric[3];            /* force on a unit charge */
    int n_groups, n_held;          /* groups; those that are held */
    const struct md_group *groups; /* borrowed */
    uint64_t version; /* another one once members of groups have changed */
};

OUTER_FN int md_group_has(const struct md_group *g, int64_t id, int species)
{
    return id >= g->first && id <= g->last && g->has[species] &&
           (!g->member ||
            ((uint64_t)g->member[(id - 1) / 64] >> ((id - 1) % 64) & 1));
}

/* The velocity that the first of n groups to hold a particle gives it, or NULL.
 */
OUTER_FN const double *md_held_of(const struct md_group *groups, int n,
                                  int64_t id, int species)
{
    for (int k = 0; k < n; k++)
        if (groups[k].held && md_group_has(&groups[k], id, species))
            return groups[k].velocity;
    return NULL;
}

OUTER_FN const double *md_held_at(const struct md_outer *o, int64_t id,
                                  int species)
{
    return md_held_of(o->groups, o->n_held > 0 ? o->n_groups : 0, id, species);
}

/* The energy at distance r; *force: away from the wall. */
OUTER_FN double md_wall_energy(const struct md_wall *w, double r, double *force)
{
    double u = 0;
    *force = 0;
    if (w->style == MD_WALL_HARMONIC) {
        double in = w->cutoff - r;
        *force = 2 * w->a * in;
        u = w->a * in * in;
    } else if (w->style == MD_WALL_LJ93) {
        double s = w->sigma / r, s3 = s * s * s, s9 = s3 * s3 * s3;
        *force = w->a * (18.0 / 15 * s9 - 3 * s3) / r;
        u = w->a * (2.0 / 15 * s9 - s3) - w->shift;
    }
    return u;
}

#endif
