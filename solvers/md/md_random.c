/* md_random.c: particles at random places, no two nearer than a separation.
 *
 * Random sequential addition: one particle after the other tries places until
 * one is free. Places have addresses (particle, attempt), so that every rank
 * finds the same, with no word between them; each goes through all particles,
 * which takes 32 bytes and about a microsecond for each.
 */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "kernels/rng.h"

#define SECTION "md.initial"

/* Spheres of this share of the volume are placed without trouble; the limit of
 * random sequential addition is 0.384 (Talbot, Schaaf and Tarjus 1991). */
static const double easy_share = 0.25;
enum { ATTEMPTS = 10000 };

void md_random_read(struct params *p, struct md *md, const double *size)
{
    static const char *const others[] = {"cells", "lattice_constant"};
    int has_density = params_is_set(p, SECTION, "density");
    md->n_particles = params_int(p, SECTION, "random");
    for (int i = 0; i < 2; i++)
        params_refuse(p, SECTION, others[i],
                      "md.initial.%s is that of a lattice; md.initial.random "
                      "takes density or domain.size",
                      others[i]);
    if (has_density == (size != NULL))
        params_error(p, SECTION, "random",
                     "random places need one of md.initial.density and "
                     "domain.size");
    for (int d = 0; d < 3 && has_density; d++)
        md->box_length[d] = cbrt((double)md->n_particles /
                                 params_double(p, SECTION, "density"));
}

void md_random_fill(struct params *p, struct md *md)
{
    const double pi = 3.14159265358979323846;
    double volume = md_volume(md), n = (double)md->n_particles;
    if (!params_is_set(p, SECTION, "random")) {
        params_refuse(p, SECTION, "separation",
                      "md.initial.separation is that of random places, "
                      "md.initial.random");
        return;
    }
    double roomy = cbrt(easy_share * volume / n * 6 / pi);
    params_fill_double(p, SECTION, "separation",
                       fmin(0.85 * md->pair.smallest_sigma, roomy));
    md->initial.separation = params_double(p, SECTION, "separation");
}

/* Places so far, in cells at least a separation wide. */
struct places {
    double length[3], tilt[3], separation2;
    int64_t cells[3];
    int64_t *first; /* of a cell, -1: none */
    int64_t *next;
    double (*x)[3]; /* from the box's lower corner, before it is tilted */
};

static int make_places(struct ctx *ctx, const struct md *md, struct places *s)
{
    double separation = md->initial.separation, n = (double)md->n_particles;
    double most = fmax(1, floor(cbrt(n))); /* about one particle a cell */
    int64_t all = 1;
    double width[3];
    *s = (struct places){.separation2 = separation * separation};
    md_box_widths(md, width);
    for (int d = 0; d < 3; d++) {
        s->length[d] = md->box_length[d];
        s->tilt[d] = md->tilt[d];
        double fit = separation > 0 ? width[d] / separation : most;
        s->cells[d] = (int64_t)fmax(1, floor(fmin(fit, most)));
        all *= s->cells[d];
    }
    s->first = malloc((size_t)all * sizeof *s->first);
    s->next = malloc((size_t)md->n_particles * sizeof *s->next);
    s->x = malloc((size_t)md->n_particles * sizeof *s->x);
    if (!s->first || !s->next || !s->x)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %" PRId64 " places",
                    md->n_particles);
    for (int64_t c = 0; c < all; c++)
        s->first[c] = -1;
    return 0;
}

static void cell_of(const struct places *s, const double x[3], int64_t cell[3])
{
    for (int d = 0; d < 3; d++) {
        cell[d] = (int64_t)(x[d] / s->length[d] * (double)s->cells[d]);
        if (cell[d] >= s->cells[d])
            cell[d] = s->cells[d] - 1;
    }
}

static int64_t number_of(const struct places *s, const int64_t cell[3])
{
    return (cell[2] * s->cells[1] + cell[1]) * s->cells[0] + cell[0];
}

static int is_near(const struct places *s, const double a[3], const double b[3])
{
    double r[3];
    for (int d = 0; d < 3; d++) {
        r[d] = a[d] - b[d];
        if (fabs(r[d]) > s->length[d] - fabs(r[d]))
            r[d] -= copysign(s->length[d], r[d]);
    }
    double y = r[1] / s->length[1], z = r[2] / s->length[2];
    r[0] += y * s->tilt[0] + z * s->tilt[1];
    r[1] += z * s->tilt[2];
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < s->separation2;
}

/* Whether a place is free: cells around it may be the same one twice where the
 * box has fewer than three, which does no harm. */
static int is_free(const struct places *s, const double x[3])
{
    int64_t home[3];
    cell_of(s, x, home);
    for (int k = 0; k < 27; k++) {
        const int step[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        int64_t cell[3];
        for (int d = 0; d < 3; d++)
            cell[d] = (home[d] + step[d] + s->cells[d]) % s->cells[d];
        for (int64_t j = s->first[number_of(s, cell)]; j >= 0; j = s->next[j])
            if (is_near(s, x, s->x[j]))
                return 0;
    }
    return 1;
}

static void draw_place(const struct md *md, int64_t id, uint64_t attempt,
                       double x[3])
{
    struct rng_words one =
        rng_philox(md->seed, RNG_PLACE, 2 * attempt, (uint64_t)id);
    struct rng_words two =
        rng_philox(md->seed, RNG_PLACE, 2 * attempt + 1, (uint64_t)id);
    x[0] = rng_uniform(one.w[0], one.w[1]) * md->box_length[0];
    x[1] = rng_uniform(one.w[2], one.w[3]) * md->box_length[1];
    x[2] = rng_uniform(two.w[0], two.w[1]) * md->box_length[2];
}

static int add_place(struct ctx *ctx, const struct md *md, struct places *s,
                     int64_t i)
{
    int64_t cell[3];
    for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        draw_place(md, i + 1, attempt, s->x[i]);
        if (!is_free(s, s->x[i]))
            continue;
        cell_of(s, s->x[i], cell);
        s->next[i] = s->first[number_of(s, cell)];
        s->first[number_of(s, cell)] = i;
        return 0;
    }
    return FAIL(ctx, STATUS_INPUT,
                "no random place is left for particle %" PRId64 " of %" PRId64
                " that is md.initial.separation = %g away from all others; "
                "make it smaller, and let md.minimize do the rest",
                i + 1, md->n_particles, md->initial.separation);
}

int md_random_place(struct ctx *ctx, const struct md *md, struct md_list *list)
{
    struct places s;
    int status = make_places(ctx, md, &s);
    for (int64_t i = 0; i < md->n_particles && status == 0; i++)
        status = add_place(ctx, md, &s, i);
    for (int64_t i = 0; i < md->n_particles && status == 0; i++) {
        struct md_particle p = {.id = i + 1,
                                .species = md_lattice_species(md, i + 1)};
        for (int d = 0; d < 3; d++)
            p.position[d] = md->box_lo[d] + s.x[i][d];
        if (md->tilted)
            md_tilt_place(md, p.position);
        md_wrap(md, &p);
        for (int d = 0; d < 3; d++)
            p.image[d] = 0;
        if (grid_owner(&md->grid, p.position) == md->grid.rank)
            status = md_list_add(ctx, list, &p);
    }
    free(s.first);
    free(s.next);
    free(s.x);
    return status;
}
