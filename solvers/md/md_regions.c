/* md_regions.c: groups by where their particles are at the start, and by other
 * groups.
 *
 * Who belongs to such a group is found once and kept as one bit a particle, on
 * every rank: N / 8 bytes a group.
 */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "domain/state.h"
#include "kernels/md/cell.h"

static const char section[] = "md.group";

/* ---- the deck ---- */

static const struct {
    const char *name, *keys[2];
} kinds[] = {
    [MD_REGION_NONE] = {NULL, {NULL, NULL}},
    [MD_REGION_BOX] = {"box", {"low", "high"}},
    [MD_REGION_SPHERE] = {"sphere", {"center", "radius"}},
    [MD_REGION_CYLINDER] = {"cylinder", {"center", "radius"}},
};

/* The keys of a kind: all of these and no others. 0: all right. */
static int check_keys(struct params *p, int i, enum md_region_kind kind)
{
    static const char *const keys[] = {"low", "high", "center", "radius"};
    int wrong = 0;
    for (int k = 0; k < 4; k++) {
        const char *const *own = kinds[kind].keys;
        int takes = kind != MD_REGION_NONE && (strcmp(keys[k], own[0]) == 0 ||
                                               strcmp(keys[k], own[1]) == 0);
        if (params_is_set_at(p, section, i, keys[k]) == takes)
            continue;
        wrong = 1;
        params_error_at(p, section, i, takes ? NULL : keys[k],
                        takes ? "md.group.%s is missing: region \"%s\" needs it"
                              : "md.group.%s has no meaning for region \"%s\"",
                        keys[k],
                        kind == MD_REGION_NONE ? "none" : kinds[kind].name);
    }
    if (kind != MD_REGION_CYLINDER && params_is_set_at(p, section, i, "axis"))
        params_error_at(p, section, i, "axis",
                        "md.group.axis is of region \"cylinder\" only");
    if (kind == MD_REGION_NONE && params_is_set_at(p, section, i, "side"))
        params_error_at(p, section, i, "side",
                        "md.group.side needs md.group.region: \"box\", "
                        "\"sphere\" or \"cylinder\"");
    return wrong;
}

static void read_place(struct params *p, struct md_region *r, int i)
{
    size_t n = 0;
    if (params_is_set_at(p, section, i, "region")) {
        const char *kind = params_string_at(p, section, i, "region");
        for (int k = MD_REGION_BOX; k <= MD_REGION_CYLINDER; k++)
            if (strcmp(kind, kinds[k].name) == 0)
                r->kind = (enum md_region_kind)k;
    }
    if (check_keys(p, i, r->kind) != 0 || r->kind == MD_REGION_NONE)
        return;
    r->outside =
        params_is_set_at(p, section, i, "side") &&
        strcmp(params_string_at(p, section, i, "side"), "outside") == 0;
    r->axis = 2;
    if (params_is_set_at(p, section, i, "axis"))
        r->axis = params_string_at(p, section, i, "axis")[0] - 'x';
    if (r->kind != MD_REGION_BOX) {
        memcpy(r->center, params_doubles_at(p, section, i, "center", &n),
               sizeof r->center);
        r->radius = params_double_at(p, section, i, "radius");
        return;
    }
    memcpy(r->lo, params_doubles_at(p, section, i, "low", &n), sizeof r->lo);
    memcpy(r->hi, params_doubles_at(p, section, i, "high", &n), sizeof r->hi);
    for (int d = 0; d < 3; d++)
        if (!(r->lo[d] < r->hi[d])) {
            params_error_at(p, section, i, "high",
                            "the box of group '%s' is empty: low = %g is not "
                            "below high = %g in %c",
                            r->name, r->lo[d], r->hi[d], "xyz"[d]);
            return;
        }
}

/* The groups that a key names, all declared before. */
static void read_list(struct params *p, const struct md *md, int i,
                      const char *key, unsigned char *in)
{
    size_t n = 0;
    if (!params_is_set_at(p, section, i, key))
        return;
    const char *const *names = params_strings_at(p, section, i, key, &n);
    if (n == 0)
        params_error_at(p, section, i, key, "md.group.%s names no group", key);
    for (size_t k = 0; k < n; k++) {
        int j = 0;
        while (j < i && strcmp(md->walls.region[j].name, names[k]) != 0)
            j++;
        if (j < i)
            in[j] = 1;
        else
            params_error_at(p, section, i, key,
                            "there is no [[md.group]] of the name '%s' before "
                            "this one",
                            names[k]);
    }
}

static void check_name(struct params *p, const struct md *md, int i)
{
    const char *name = params_string_at(p, section, i, "name");
    for (int j = 0; j < i; j++)
        if (strcmp(name, md->walls.region[j].name) == 0)
            params_error_at(p, section, i, "name",
                            "there is a group '%s' already", name);
    if (strlen(name) >= sizeof md->walls.region[i].name)
        params_error_at(p, section, i, "name",
                        "the name of a group has at most %zu characters",
                        sizeof md->walls.region[i].name - 1);
    if (md->walls.region[i].free &&
        (name[0] == '\0' || strlen(name) > 31 || strpbrk(name, " /\"\\.")))
        params_error_at(p, section, i, "name",
                        "the name of this group becomes part of that of its "
                        "temperature: 1 to 31 characters, without blanks, "
                        "quotes, dots and slashes");
}

int md_region_read(struct ctx *ctx, struct params *p, struct md *md, int i)
{
    struct md_region *r = &md->walls.region[i];
    size_t n = (size_t)md->walls.outer.n_groups;
    snprintf(r->name, sizeof r->name, "%s",
             params_string_at(p, section, i, "name"));
    r->any = calloc(3, n);
    if (!r->any)
        return FAIL(ctx, STATUS_MEMORY, "no memory for groups");
    r->all = r->any + n;
    r->none = r->all + n;
    check_name(p, md, i);
    read_place(p, r, i);
    read_list(p, md, i, "any_of", r->any);
    read_list(p, md, i, "all_of", r->all);
    read_list(p, md, i, "none_of", r->none);
    r->by_groups = memchr(r->any, 1, 3 * n) != NULL;
    r->has_any = memchr(r->any, 1, n) != NULL;
    snprintf(r->observable, sizeof r->observable, "temperature_%.31s", r->name);
    snprintf(r->description, sizeof r->description,
             "kinetic temperature of group %.31s, 2 K / 3 k a particle",
             r->name);
    return 0;
}

void md_regions_free(struct md *md)
{
    for (int i = 0; i < md->walls.outer.n_groups && md->walls.region; i++) {
        free(md->walls.region[i].any);
        free(md->walls.region[i].member);
    }
    free(md->walls.region);
}

/* ---- who belongs to it ---- */

/* Which images of x along edge d are to be looked at: the first one is *first
 * edges ahead; returns how many. Those within the radius, of which none is
 * needed that is farther than half the way between the corners of the brick;
 * and along a cylinder's axis the one in the box, where its line is. */
static int find_images(const struct md *md, const struct md_region *r, int d,
                       double x, double *first)
{
    const double *l = md->box_length;
    double longest = 0.5 * sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
    double reach = fmin(r->radius, longest * (1 + 1e-9));
    *first = 0;
    if (md->grid.walled[d])
        return 1;
    if (r->kind == MD_REGION_CYLINDER && d == r->axis) {
        *first = -floor((x - md->box_lo[d]) / l[d]);
        return 1;
    }
    *first = ceil((r->center[d] - x - reach) / l[d]);
    return (int)(floor((r->center[d] - x + reach) / l[d]) - *first) + 1;
}

/* Whether an image of x, along edge d and those before it, is nearer than the
 * root of `room` to the center of a sphere or to the line of a cylinder. */
static int is_near(const struct md *md, const struct md_region *r, int d,
                   const double x[3], double room)
{
    double first;
    int n = d < 0 ? 0 : find_images(md, r, d, x[d], &first);
    for (int k = 0; k < n; k++) {
        double y[3] = {x[0], x[1], x[2]}, edges = first + k;
        y[d] += edges * md->box_length[d];
        if (d == 2)
            y[1] += edges * md->tilt[2];
        if (d > 0)
            y[0] += edges * md->tilt[d - 1];
        double dx = y[d] - r->center[d];
        if (r->kind == MD_REGION_CYLINDER && d == r->axis)
            dx = 0;
        if (is_near(md, r, d - 1, y, room - dx * dx))
            return 1;
    }
    return d < 0 && room > 0;
}

/* Between the planes of the faces, where the edges are: of a tilted box that is
 * not the brick in which particles stand. Rounding leaves at a face what is
 * there. */
static void put_in_box(const struct md *md, double x[3])
{
    double way[3], part[3];
    for (int d = 0; d < 3; d++)
        way[d] = x[d] - md->box_lo[d];
    cell_parts(md->box_length, md->tilt, way, part);
    double a = floor(part[0] + 1e-12), b = floor(part[1] + 1e-12);
    x[0] -= a * md->box_length[0] + b * md->tilt[0];
    x[1] -= b * md->box_length[1];
}

static int is_in_box(const struct md *md, const struct md_region *r,
                     const double x[3])
{
    double y[3] = {x[0], x[1], x[2]};
    if (md->tilted)
        put_in_box(md, y);
    for (int d = 0; d < 3; d++)
        if (y[d] < r->lo[d] || y[d] >= r->hi[d])
            return 0;
    return 1;
}

static int is_inside(const struct md *md, const struct md_region *r,
                     const double x[3])
{
    return r->kind == MD_REGION_BOX
               ? is_in_box(md, r, x)
               : is_near(md, r, 2, x, r->radius * r->radius);
}

static int belongs(const struct md *md, int i, const struct md_particle *p)
{
    const struct md_region *r = &md->walls.region[i];
    const struct md_group *g = md->walls.group;
    int any = !r->has_any;
    for (int j = 0; j < i && r->by_groups; j++) {
        int in = md_group_has(&g[j], p->id, p->species);
        any |= in && r->any[j];
        if ((!in && r->all[j]) || (in && r->none[j]))
            return 0;
    }
    return any && (r->kind == MD_REGION_NONE ||
                   is_inside(md, r, p->position) != r->outside);
}

int md_region_is_listed(const struct md_region *r)
{
    return r->kind != MD_REGION_NONE || r->by_groups;
}

static size_t words_of(const struct md *md)
{
    return (size_t)((md->n_particles + 63) / 64);
}

static int allocate(struct ctx *ctx, struct md *md)
{
    struct md_walls *w = &md->walls;
    for (int i = 0; i < w->outer.n_groups; i++) {
        struct md_region *r = &w->region[i];
        if (!md_region_is_listed(r))
            continue;
        r->member = calloc(words_of(md) + 1, sizeof *r->member);
        if (!r->member)
            return FAIL(ctx, STATUS_MEMORY,
                        "no memory for the members of group '%s'", r->name);
    }
    return 0;
}

/* Group by group, since later ones ask for earlier ones. */
static void find_members(struct md *md, const struct md_particle *p, size_t n)
{
    struct md_walls *w = &md->walls;
    for (int i = 0; i < w->outer.n_groups; i++) {
        struct md_region *r = &w->region[i];
        struct md_group *g = &w->group[i];
        for (size_t k = 0; k < n; k++) {
            uint64_t bit = (uint64_t)(p[k].id - 1);
            if (!md_group_has(g, p[k].id, p[k].species) ||
                !belongs(md, i, &p[k]))
                continue;
            r->count++;
            if (r->member)
                r->member[bit / 64] = (int64_t)((uint64_t)r->member[bit / 64] |
                                                UINT64_C(1) << bit % 64);
        }
        g->member = r->member;
        g->n_words = (int64_t)words_of(md);
    }
}

/* Ranks have different particles, so that a sum of bits is all of them. */
static int share(struct ctx *ctx, struct md *md)
{
    const size_t at_once = 1 << 20;
    size_t words = words_of(md);
    for (int i = 0; i < md->walls.outer.n_groups; i++) {
        struct md_region *r = &md->walls.region[i];
        TRY(comm_sum_int64(ctx, &r->count, 1));
        for (size_t k = 0; r->member && k < words; k += at_once) {
            size_t left = words - k;
            TRY(comm_sum_int64(ctx, r->member + k,
                               (int)(left < at_once ? left : at_once)));
        }
    }
    return 0;
}

static int tell(struct ctx *ctx, const struct md *md)
{
    for (int i = 0; i < md->walls.outer.n_groups; i++) {
        const struct md_region *r = &md->walls.region[i];
        log_info(ctx->log, "group '%s': %" PRId64 " particles", r->name,
                 r->count);
        if (r->count == 0)
            return FAIL(ctx, STATUS_INPUT,
                        "[[md.group]] '%s' is empty: no particle is of its "
                        "species, ids, place and other groups at the start",
                        r->name);
    }
    return 0;
}

int md_regions_start(struct ctx *ctx, struct md *md)
{
    struct md_particle *p;
    size_t n;
    if (md->walls.outer.n_groups == 0)
        return 0;
    TRY(comm_agree(ctx, allocate(ctx, md)));
    TRY(md_own_particles(ctx, md, &p, &n));
    find_members(md, p, n);
    free(p);
    TRY(share(ctx, md));
    md->walls.outer.version++;
    return tell(ctx, md);
}

/* ---- checkpoints ---- */

static int move(struct ctx *ctx, const struct md *md, struct state_io *io,
                int (*transfer)(struct ctx *, struct state_io *,
                                const struct state_array *))
{
    for (int i = 0; i < md->walls.outer.n_groups; i++) {
        struct md_region *r = &md->walls.region[i];
        char name[32];
        snprintf(name, sizeof name, "groups/members_%d", i);
        struct state_array members =
            state_shared(name, STATE_INT64, (int64_t)words_of(md), r->member);
        struct state_array count;
        if (r->member)
            TRY(transfer(ctx, io, &members));
        snprintf(name, sizeof name, "groups/count_%d", i);
        count = state_shared(name, STATE_INT64, 1, &r->count);
        TRY(transfer(ctx, io, &count));
    }
    return 0;
}

int md_regions_save(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    return move(ctx, md, io, io->put);
}

int md_regions_restore(struct ctx *ctx, struct md *md, struct state_io *io)
{
    if (md->walls.outer.n_groups == 0)
        return 0;
    TRY(comm_agree(ctx, allocate(ctx, md)));
    TRY(move(ctx, md, io, io->get));
    for (int i = 0; i < md->walls.outer.n_groups; i++) {
        md->walls.group[i].member = md->walls.region[i].member;
        md->walls.group[i].n_words = (int64_t)words_of(md);
    }
    md->walls.outer.version++;
    return 0;
}
