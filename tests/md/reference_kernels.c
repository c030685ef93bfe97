#include "reference_kernels.h"

#include <math.h>
#include <string.h>

#include "kernels/rng.h"
#include "reference_store.h"

/* ---- formulas ---- */

double reference_pair(const struct lj_coeff *c, double r2, double *force)
{
    *force = 0;
    if (r2 >= c->cutoff2)
        return 0;
    double r = sqrt(r2), r6 = 1 / (r2 * r2 * r2);
    *force = (12 * c->c12 * r6 * r6 - 6 * c->c6 * r6) / r2 - c->force_shift / r;
    return c->c12 * r6 * r6 - c->c6 * r6 - c->shift +
           c->force_shift * (r - c->cutoff);
}

double reference_nearest(double d, double length)
{
    return d - length * rint(d / length);
}

void reference_direct(const double box_length[3], int n_species,
                      const struct lj_coeff *coeff, size_t n,
                      const double (*position)[3], const int32_t *species,
                      double (*force)[3], struct md_sums *sums)
{
    memset(force, 0, n * sizeof *force);
    *sums = (struct md_sums){0};
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double d[3], r2 = 0, f;
            for (int e = 0; e < 3; e++) {
                d[e] = reference_nearest(position[i][e] - position[j][e],
                                         box_length[e]);
                r2 += d[e] * d[e];
            }
            sums->energy += reference_pair(
                &coeff[species[i] * n_species + species[j]], r2, &f);
            sums->virial += f * r2;
            for (int e = 0; e < 3; e++) {
                force[i][e] += f * d[e];
                force[j][e] -= f * d[e];
            }
        }
}

/* ---- forces ---- */

/* From b to a; the nearest image where this rank spans the box. */
static double separation(const struct md_store *s, const double a[3],
                         const double b[3], double d[3])
{
    double r2 = 0;
    for (int e = 0; e < 3; e++) {
        d[e] = a[e] - b[e];
        if (!s->setup.cut[e])
            d[e] = reference_nearest(d[e], s->setup.box_length[e]);
        r2 += d[e] * d[e];
    }
    return r2;
}

static const struct lj_coeff *coeff_of(const struct md_store *s, int32_t a,
                                       int32_t b)
{
    return &s->coeff[a * s->setup.n_species + b];
}

/* Visit all pairs with an own particle: j < n own, else a copy. */
typedef void visit(void *user, const struct md_store *s, size_t i, size_t j,
                   const double d[3], double r2);

static void all_pairs(const struct md_store *s, int own, int halo, visit *f,
                      void *user)
{
    double d[3];
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->body[i].p.position;
        for (size_t j = i + 1; own && j < s->n; j++) {
            double r2 = separation(s, x, s->body[j].p.position, d);
            f(user, s, i, j, d, r2);
        }
        for (size_t j = 0; halo && j < s->n_halo; j++) {
            double r2 = separation(s, x, s->halo[j].position, d);
            f(user, s, i, s->n + j, d, r2);
        }
    }
}

static int32_t species_of(const struct md_store *s, size_t j)
{
    return j < s->n ? s->body[j].p.species : s->halo[j - s->n].species;
}

static void add_force(void *user, const struct md_store *s, size_t i, size_t j,
                      const double d[3], double r2)
{
    struct md_sums *sums = user;
    double f, share = j < s->n ? 1 : 0.5;
    int32_t a = s->body[i].p.species, b = species_of(s, j);
    double u = reference_pair(coeff_of(s, a, b), r2, &f);
    sums->energy += share * u;
    sums->virial += share * f * r2;
    for (int e = 0; e < 3; e++) {
        s->body[i].force[e] += f * d[e];
        if (j < s->n)
            s->body[j].force[e] -= f * d[e];
    }
}

static void add_sums(struct md_sums *sums, const struct md_sums *more)
{
    if (!sums)
        return;
    sums->energy += more->energy;
    sums->virial += more->virial;
}

static void reference_force_own(struct md_store *s, struct md_sums *sums)
{
    struct md_sums mine = {0};
    for (size_t i = 0; i < s->n; i++)
        memset(s->body[i].force, 0, sizeof s->body[i].force);
    all_pairs(s, 1, 0, add_force, &mine);
    add_sums(sums, &mine);
}

static void reference_force_halo(struct md_store *s, struct md_sums *sums)
{
    struct md_sums mine = {0};
    all_pairs(s, 0, 1, add_force, &mine);
    add_sums(sums, &mine);
}

/* ---- motion ---- */

static void reference_kick(struct md_store *s, double dt)
{
    for (size_t i = 0; i < s->n; i++) {
        struct body *b = &s->body[i];
        double factor =
            dt * s->setup.acceleration / s->setup.mass[b->p.species];
        for (int d = 0; d < 3; d++)
            b->p.velocity[d] += factor * b->force[d];
    }
}

static double reference_kick_drift(struct md_store *s, double dt_kick,
                                   double dt_drift)
{
    double greatest = 0;
    reference_kick(s, dt_kick);
    for (size_t i = 0; i < s->n; i++) {
        struct body *b = &s->body[i];
        double r2 = 0;
        for (int d = 0; d < 3; d++) {
            b->p.position[d] += dt_drift * b->p.velocity[d];
            double moved = b->p.position[d] - b->start[d];
            r2 += moved * moved;
        }
        if (!(r2 <= greatest))
            greatest = r2;
        if (isnan(greatest))
            return greatest;
    }
    return greatest;
}

static void reference_moments(const struct md_store *s, struct md_moments *out)
{
    *out = (struct md_moments){0};
    for (size_t i = 0; i < s->n; i++) {
        const struct md_particle *p = &s->body[i].p;
        double m = s->setup.mass[p->species];
        out->mass += m;
        for (int d = 0; d < 3; d++) {
            out->kinetic += 0.5 * m * p->velocity[d] * p->velocity[d];
            out->momentum[d] += m * p->velocity[d];
        }
    }
}

static void reference_scale_velocities(struct md_store *s, double factor)
{
    for (size_t i = 0; i < s->n; i++)
        for (int d = 0; d < 3; d++)
            s->body[i].p.velocity[d] *= factor;
}

static void reference_ornstein_uhlenbeck(struct md_store *s, double decay,
                                         double kt, uint64_t step)
{
    for (size_t i = 0; i < s->n; i++) {
        struct md_particle *p = &s->body[i].p;
        double normal[3];
        double width =
            sqrt((1 - decay * decay) * kt / s->setup.mass[p->species]);
        rng_normal3(s->setup.seed, RNG_LANGEVIN, step, (uint64_t)p->id, normal);
        for (int d = 0; d < 3; d++)
            p->velocity[d] = decay * p->velocity[d] + width * normal[d];
    }
}

/* ---- looking ---- */

struct histogram {
    double range;
    int n_bins;
    const int *channel_of;
    uint64_t *counts;
};

static void count_pair(void *user, const struct md_store *s, size_t i, size_t j,
                       const double d[3], double r2)
{
    const struct histogram *h = user;
    double r = sqrt(r2);
    int channel = h->channel_of[s->body[i].p.species * s->setup.n_species +
                                species_of(s, j)];
    (void)d;
    if (channel < 0 || r >= h->range)
        return;
    int bin = (int)(r / h->range * h->n_bins);
    h->counts[channel * h->n_bins + bin] += j < s->n ? 2 : 1;
}

static int reference_pair_histogram(struct ctx *ctx, const struct md_store *s,
                                    double range, int n_bins,
                                    const int *channel_of, uint64_t *counts)
{
    struct histogram h = {range, n_bins, channel_of, counts};
    (void)ctx;
    all_pairs(s, 1, 1, count_pair, &h);
    return 0;
}

static void keep_closest(void *user, const struct md_store *s, size_t i,
                         size_t j, const double d[3], double r2)
{
    struct md_close_pair *best = user;
    (void)d;
    if (!(sqrt(r2) < best->distance))
        return;
    best->found = 1;
    best->distance = sqrt(r2);
    best->id[0] = s->body[i].p.id;
    best->id[1] = j < s->n ? s->body[j].p.id : s->halo[j - s->n].id;
}

static int reference_closest_pair(struct ctx *ctx, const struct md_store *s,
                                  double distance, struct md_close_pair *out)
{
    (void)ctx;
    *out = (struct md_close_pair){.distance = distance};
    all_pairs(s, 1, 1, keep_closest, out);
    return 0;
}

static int reference_find_not_finite(const struct md_store *s,
                                     struct md_particle *out)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct body *b = &s->body[i];
        for (int d = 0; d < 3; d++)
            if (!isfinite(b->p.position[d]) || !isfinite(b->p.velocity[d]) ||
                !isfinite(b->force[d])) {
                *out = b->p;
                return 1;
            }
    }
    return 0;
}

const struct md_kernels md_kernels_reference = {
    .name = "reference",
    .create = reference_create,
    .destroy = reference_destroy,
    .count = reference_count,
    .counters = reference_counters,
    .insert = reference_insert,
    .gather = reference_gather,
    .extract_leavers = reference_extract_leavers,
    .sort = reference_sort,
    .select_halo = reference_select_halo,
    .halo_record_bytes = reference_halo_record_bytes,
    .pack_halo = reference_pack_halo,
    .accept_halo = reference_accept_halo,
    .unpack_halo = reference_unpack_halo,
    .build_list = reference_build_list,
    .force_own = reference_force_own,
    .force_halo = reference_force_halo,
    .kick_drift = reference_kick_drift,
    .kick = reference_kick,
    .moments = reference_moments,
    .scale_velocities = reference_scale_velocities,
    .ornstein_uhlenbeck = reference_ornstein_uhlenbeck,
    .pair_histogram = reference_pair_histogram,
    .closest_pair = reference_closest_pair,
    .find_not_finite = reference_find_not_finite,
};
