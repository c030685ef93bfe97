/* md_groups.c: groups of particles that are pulled, or held at a velocity. */
#include "md.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"

static const char section[] = "md.group";

/* ---- the deck ---- */

/* Who belongs to group i: of the species it names, or of all; with an id in its
 * range, or any. */
static void read_members(struct params *p, const struct md *md, int i,
                         struct md_group *g, unsigned char *has)
{
    size_t n = 0;
    int by_species = params_is_set_at(p, section, i, "species");
    memset(has, !by_species, (size_t)md->n_species);
    g->has = has;
    g->first = 1;
    g->last = INT64_MAX;
    const char *const *names =
        by_species ? params_strings_at(p, section, i, "species", &n) : NULL;
    for (size_t k = 0; k < n; k++) {
        int s = md_read_species(p, md, section, i, "species", names[k]);
        if (s >= 0)
            has[s] = 1;
    }
    if (!params_is_set_at(p, section, i, "ids"))
        return;
    const double *ids = params_doubles_at(p, section, i, "ids", &n);
    g->first = (int64_t)ids[0];
    g->last = (int64_t)ids[1];
    if (!(ids[0] <= ids[1]) || !(ids[0] >= 1) || ids[1] > 9e15)
        params_error_at(p, section, i, "ids",
                        "ids are those of the first and the last particle, 1 "
                        "or more and ascending");
}

static int read_group(struct ctx *ctx, struct params *p, struct md *md, int i)
{
    struct md_walls *w = &md->walls;
    struct md_group *g = &w->group[i];
    size_t n = 0;
    const char *action = params_string_at(p, section, i, "action");
    int moves = strcmp(action, "move") == 0;
    int pulled = strcmp(action, "pull") == 0;
    read_members(p, md, i, g, w->has + (size_t)i * (size_t)md->n_species);
    if (params_is_set_at(p, section, i, "velocity") != moves ||
        params_is_set_at(p, section, i, "force") != pulled) {
        params_error_at(p, section, i, "action",
                        "group '%s': action \"move\" and velocity need one "
                        "another, and so do \"pull\" and force",
                        params_string_at(p, section, i, "name"));
        return 0;
    }
    if (moves)
        memcpy(g->velocity, params_doubles_at(p, section, i, "velocity", &n),
               sizeof g->velocity);
    if (pulled)
        memcpy(g->force, params_doubles_at(p, section, i, "force", &n),
               sizeof g->force);
    g->held = moves || strcmp(action, "freeze") == 0;
    md_bath_group(p, md, i, g);
    w->region[i].free = !pulled && !g->held;
    w->outer.n_held += g->held;
    w->has_field |= pulled;
    return md_region_read(ctx, p, md, i);
}

/* What moves particles past all forces. */
static void check_held(struct params *p, const struct md *md)
{
    if (md->barostat.kind)
        params_error(p, "md.ensemble", "type",
                     "type \"npt\" does not go with a [[md.group]] that is "
                     "held");
    if (md->ewald)
        params_error(p, "md.coulomb", "method",
                     "methods pme and ewald do not go with a [[md.group]] that "
                     "is held; take cut or dsf");
    if (md->rigid.on)
        params_error(p, "md.constraints", NULL,
                     "rigid bonds do not go with a [[md.group]] that is held");
}

int md_groups_read(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_walls *w = &md->walls;
    int n = params_count(p, section);
    if (n == 0)
        return 0;
    w->group = calloc((size_t)n, sizeof *w->group);
    w->has = calloc((size_t)n, (size_t)md->n_species + 1);
    w->region = calloc((size_t)n, sizeof *w->region);
    if (!w->group || !w->has || !w->region)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %d groups", n);
    w->outer.n_groups = n;
    w->outer.groups = w->group;
    for (int i = 0; i < n; i++)
        TRY(read_group(ctx, p, md, i));
    if (w->outer.n_held > 0)
        check_held(p, md);
    return 0;
}

void md_groups_free(struct md *md)
{
    md_regions_free(md);
    free(md->walls.group);
    free(md->walls.has);
}

/* ---- the run ---- */

int md_groups_start(struct ctx *ctx, struct md *md)
{
    const struct md_outer *o = &md->walls.outer;
    struct md_particle *p;
    int64_t held = 0;
    size_t n;
    if (o->n_held == 0)
        return 0;
    TRY(md_own_particles(ctx, md, &p, &n));
    for (size_t i = 0; i < n; i++)
        held += md_held_at(o, p[i].id, p[i].species) != NULL;
    free(p);
    TRY(comm_sum_int64(ctx, &held, 1));
    if (held == md->n_particles)
        return FAIL(ctx, STATUS_INPUT,
                    "[[md.group]]: all particles are held: nothing can move");
    md->degrees_of_freedom = 3.0 * (double)(md->n_particles - held);
    log_info(ctx->log,
             "groups: %" PRId64 " particles are held; temperature and kinetic "
             "energy are those of the other %" PRId64,
             held, md->n_particles - held);
    md->k->hold(md->store);
    return 0;
}

void md_groups_hold(struct md *md)
{
    if (md->walls.outer.n_held > 0)
        md->k->hold(md->store);
}
