/* md_walls.c: walls at faces of the box, and constant fields. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "base/timer.h"

static const char section[] = "md.walls";
static const char *const faces[MD_FACES] = {"xlo", "xhi", "ylo",
                                            "yhi", "zlo", "zhi"};

/* ---- the deck ---- */

static int choice(const char *text, const char *const *names, int n)
{
    int k = 0;
    while (k < n - 1 && strcmp(names[k], text) != 0)
        k++;
    return k;
}

/* The keys of a style: all of these and no others. 0: all right. */
static int check_keys(struct params *p, int i, enum md_wall_style style)
{
    static const char *const keys[] = {"epsilon", "sigma", "k", "cutoff"};
    static const unsigned char takes[3][4] = {
        {0, 0, 0, 0}, {0, 0, 1, 1}, {1, 1, 0, 1}};
    int wrong = 0;
    for (int k = 0; k < 4; k++) {
        if (params_is_set_at(p, section, i, keys[k]) == takes[style][k])
            continue;
        wrong = 1;
        params_error_at(p, section, i, takes[style][k] ? NULL : keys[k],
                        takes[style][k] ? "md.walls.%s is missing: style "
                                          "\"%s\" needs it"
                                        : "md.walls.%s has no meaning for "
                                          "style \"%s\"",
                        keys[k], params_string_at(p, section, i, "style"));
    }
    return wrong;
}

/* On whom wall i acts: the species it names, or all. */
static void read_species(struct params *p, const struct md *md, int i,
                         unsigned char *acts)
{
    size_t n = 0;
    memset(acts, !params_is_set_at(p, section, i, "species"),
           (size_t)md->n_species);
    if (acts[0])
        return;
    const char *const *names = params_strings_at(p, section, i, "species", &n);
    for (size_t k = 0; k < n; k++) {
        int s = md_read_species(p, md, section, i, "species", names[k]);
        if (s >= 0)
            acts[s] = 1;
    }
}

static void read_wall(struct params *p, struct md *md, int i)
{
    static const char *const styles[] = {"reflect", "harmonic", "lj93"};
    struct md_walls *walls = &md->walls;
    int face = choice(params_string_at(p, section, i, "face"), faces, MD_FACES);
    enum md_wall_style style = (enum md_wall_style)choice(
        params_string_at(p, section, i, "style"), styles, 3);
    unsigned char *acts = walls->acts + (size_t)i * (size_t)md->n_species;
    struct md_wall w = {.style = style, .face = face, .acts = acts};
    double force;
    walls->has_face[face] = 1;
    read_species(p, md, i, acts);
    if (check_keys(p, i, style) != 0 || style == MD_WALL_REFLECT)
        return;
    w.cutoff = params_double_at(p, section, i, "cutoff");
    if (style == MD_WALL_HARMONIC) {
        w.a = params_double_at(p, section, i, "k");
    } else {
        w.a = params_double_at(p, section, i, "epsilon");
        w.sigma = params_double_at(p, section, i, "sigma");
        w.shift = md_wall_energy(&w, w.cutoff, &force);
    }
    walls->has_force[face] = 1;
    walls->wall[walls->outer.n_walls++] = w;
}

static void read_field(struct params *p, struct md *md)
{
    size_t n = 0;
    struct md_outer *o = &md->walls.outer;
    if (!params_has_section(p, "md.field"))
        return;
    if (params_is_set(p, "md.field", "acceleration")) {
        const double *g = params_doubles(p, "md.field", "acceleration", &n);
        memcpy(o->acceleration, g, sizeof o->acceleration);
    }
    if (params_is_set(p, "md.field", "electric")) {
        const double *e = params_doubles(p, "md.field", "electric", &n);
        memcpy(o->electric, e, sizeof o->electric);
        if (!md->charged)
            params_error(p, "md.field", "electric",
                         "no particle has a charge: give the species' charge "
                         "in [[md.species]], or a data file with charges");
    }
    md->walls.has_field = 1;
}

/* What does not go with a box that has an end. */
static void check_others(struct params *p, const struct md *md)
{
    const struct md_walls *w = &md->walls;
    for (int d = 0; d < 3; d++)
        if (w->has_face[2 * d] != w->has_face[2 * d + 1])
            params_error(p, section, NULL,
                         "a wall at %s needs one at %s: a box has an end on "
                         "both sides, or on none",
                         faces[2 * d + w->has_face[2 * d + 1]],
                         faces[2 * d + w->has_face[2 * d]]);
    int left = 0;
    for (int d = 0; d < 3; d++)
        left += !w->outer.walled[d] && md->barostat.group[d] != MD_FIXED;
    if (md->barostat.kind && left == 0)
        params_error(p, "md.ensemble", "type",
                     "type \"npt\" changes the edges that coupling names, in "
                     "directions without [[md.walls]], and there is none");
    if (md->pair.tail)
        params_error(p, "md.pair", "tail",
                     "md.pair.tail is of uniform fluids, without [[md.walls]]");
    for (int i = 0; i < params_count(p, section) && md->rigid.on; i++)
        if (strcmp(params_string_at(p, section, i, "style"), "reflect") == 0)
            params_error_at(p, section, i, "style",
                            "a mirror would tear groups of rigid bonds apart: "
                            "take style \"harmonic\" or \"lj93\"");
}

int md_walls_read(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_walls *w = &md->walls;
    int n = params_count(p, section);
    read_field(p, md);
    TRY(md_groups_read(ctx, p, md));
    if (n == 0)
        return 0;
    w->acts = calloc((size_t)n, (size_t)md->n_species + 1);
    w->wall = calloc((size_t)n, sizeof *w->wall);
    if (!w->acts || !w->wall)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %d walls", n);
    for (int i = 0; i < n; i++)
        read_wall(p, md, i);
    w->outer.walls = w->wall;
    for (int d = 0; d < 3; d++)
        w->outer.walled[d] = w->has_face[2 * d] && w->has_face[2 * d + 1];
    w->outer.closed = md->rigid.on;
    check_others(p, md);
    if (md->barostat.kind)
        md_barostat_fix(md, w->outer.walled);
    return 0;
}

void md_walls_free(struct md *md)
{
    md_groups_free(md);
    free(md->walls.acts);
    free(md->walls.wall);
}

double md_shortest_edge(const struct md *md)
{
    double shortest = HUGE_VAL, width[3];
    md_box_widths(md, width);
    for (int d = 0; d < 3; d++)
        if (!md->open.on[d] && (!md->walls.outer.walled[d] || md->bonded.on))
            shortest = fmin(shortest, width[d]);
    return shortest;
}

/* ---- the run ---- */

static int has_walls(const struct md *md)
{
    const int *walled = md->walls.outer.walled;
    return walled[0] || walled[1] || walled[2];
}

static int is_on(const struct md *md)
{
    return has_walls(md) || md->walls.has_field || md->walls.outer.n_groups > 0;
}

int md_walls_open(struct ctx *ctx, struct md *md)
{
    int status = 0;
    if (!is_on(md))
        return 0;
    for (int d = 0; d < 3; d++) {
        md->walls.outer.lo[d] = md->box_lo[d];
        md->walls.outer.hi[d] = md->box_lo[d] + md->box_length[d];
    }
    if (!md->k->reflect)
        status = FAIL(ctx, STATUS_UNSUPPORTED,
                      "md.walls and md.field, md.group as well, are not "
                      "computed on a card yet; use device = \"cpu\"");
    return comm_agree(ctx, status);
}

/* A start outside of the walls would have been taken for that of an image. */
int md_walls_start(struct ctx *ctx, struct md *md)
{
    struct md_particle *p;
    int status = 0;
    size_t n;
    if (!is_on(md))
        return 0;
    TRY(md_own_particles(ctx, md, &p, &n));
    for (size_t i = 0; i < n && status == 0; i++)
        for (int d = 0; d < 3 && status == 0; d++)
            if (md->walls.outer.walled[d] && p[i].image[d] != 0)
                status = FAIL(
                    ctx, STATUS_INPUT,
                    "particle %" PRId64 " is at %c = %g at the start, outside "
                    "of the walls at %g and %g",
                    p[i].id, "xyz"[d],
                    p[i].position[d] + p[i].image[d] * md->box_length[d],
                    md->walls.outer.lo[d], md->walls.outer.hi[d]);
    free(p);
    return comm_agree(ctx, status);
}

void md_walls_forces(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    struct md_walls *w = &md->walls;
    if (!is_on(md))
        return;
    memset(w->on_wall, 0, sizeof w->on_wall);
    timer_begin(ctx->timers, md->phase_pair);
    if (w->has_field || w->outer.n_walls > 0 || w->outer.n_held > 0)
        md->k->outer_forces(md->store, &w->outer, sums, w->on_wall);
    timer_end(ctx->timers, md->phase_pair);
}

void md_walls_reflect_ahead(struct md *md)
{
    if (has_walls(md) && md->k->reflect_ahead)
        md->k->reflect_ahead(md->store, &md->walls.outer);
}

int md_walls_reflect(struct ctx *ctx, struct md *md)
{
    if (!has_walls(md))
        return 0;
    int64_t lost = md->k->reflect(md->store, &md->walls.outer);
    if (lost == 0)
        return 0;
    return FAIL(ctx, STATUS_PHYSICS,
                "step %" PRId64 ": particle %" PRId64
                " went through a wall; the timestep %g is probably too large%s",
                md->step, lost, md->dt, md_forms_fall(md));
}

/* ---- looking ---- */

void md_walls_observe_init(struct md *md)
{
    static const struct {
        const char *name, *description;
    } forces[MD_FACES] = {
        {"wall_force_xlo",
         "force of the particles on the wall at xlo, along x"},
        {"wall_force_xhi",
         "force of the particles on the wall at xhi, along x"},
        {"wall_force_ylo",
         "force of the particles on the wall at ylo, along y"},
        {"wall_force_yhi",
         "force of the particles on the wall at yhi, along y"},
        {"wall_force_zlo",
         "force of the particles on the wall at zlo, along z"},
        {"wall_force_zhi",
         "force of the particles on the wall at zhi, along z"}};
    for (int f = 0; f < MD_FACES; f++)
        if (md->walls.has_force[f])
            md_add_observable(md, forces[f].name, MD_FORCE,
                              forces[f].description, NULL, 0, 6);
}

int md_walls_observe(struct ctx *ctx, struct md *md, double *values, int *n)
{
    double sum[MD_FACES];
    if (md->walls.outer.n_walls == 0)
        return 0;
    memcpy(sum, md->walls.on_wall, sizeof sum);
    TRY(comm_sum_double(ctx, sum, MD_FACES));
    for (int f = 0; f < MD_FACES; f++)
        if (md->walls.has_force[f])
            values[(*n)++] = sum[f];
    return 0;
}
