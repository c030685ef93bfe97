/* md_rigid_groups.c: which bonds are rigid, and the groups they make. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/param.h"
#include "md_data.h"

/* ---- the deck ---- */

static void read_types(struct params *p, const char *key, const int64_t *types,
                       size_t n, int64_t n_types, const char *what,
                       unsigned char *chosen)
{
    for (size_t i = 0; i < n; i++)
        if (types[i] < 1 || types[i] > n_types)
            params_error(p, "md.constraints", key,
                         "there is no %s type %" PRId64
                         ": the data file has types 1 to %" PRId64,
                         what, types[i], n_types);
        else
            chosen[types[i] - 1] = 1;
}

static void read_water(struct params *p, struct md *md)
{
    size_t n = 0;
    const char *const *names =
        params_strings(p, "md.constraints", "rigid_water", &n);
    if (n != 2) {
        params_error(p, "md.constraints", "rigid_water",
                     "two species, that of oxygen and that of hydrogen");
        return;
    }
    for (int k = 0; k < 2; k++) {
        md->rigid.water[k] = md_find_species(md, names[k]);
        if (md->rigid.water[k] < 0)
            params_error(p, "md.constraints", "rigid_water",
                         "there is no species '%s'", names[k]);
    }
}

/* Types that a topology holds at their lengths, [ settles ] and
 * [ constraints ]. */
static int has_rigid_types(const struct md *md)
{
    const struct md_data *data = md->data;
    for (int t = 0; data && t < data->n_term_types[MD_TERM_BOND]; t++)
        if (data->coeff[MD_TERM_BOND][t].rigid)
            return 1;
    return 0;
}

static void mark_rigid_types(struct md *md)
{
    const struct md_data *data = md->data;
    for (int t = 0; t < data->n_term_types[MD_TERM_BOND]; t++)
        md->rigid.bonds[t] |= (unsigned char)data->coeff[MD_TERM_BOND][t].rigid;
    for (int t = 0; t < data->n_term_types[MD_TERM_ANGLE]; t++)
        md->rigid.angles[t] |=
            (unsigned char)data->coeff[MD_TERM_ANGLE][t].rigid;
}

int md_rigid_read(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_rigid_deck *r = &md->rigid;
    size_t n_bonds = 0, n_angles = 0;
    r->water[0] = r->water[1] = -1;
    if (!params_has_section(p, "md.constraints") && !has_rigid_types(md))
        return 0;
    if (!md->bonded.on) {
        params_error(p, "md.constraints", NULL,
                     "there are no bonds to make rigid: they come from a data "
                     "file, md.initial.read = \"NAME.data\"");
        return 0;
    }
    if (md->precision == PRECISION_SINGLE)
        params_error(p, "md.constraints", NULL,
                     "rigid bonds need positions in double precision: "
                     "md.precision = \"mixed\" or \"double\"");
    const struct md_force_field *f = &md->bonded.field;
    r->bonds = calloc((size_t)f->n_bonds + 1, 1);
    r->angles = calloc((size_t)f->n_angles + 1, 1);
    if (!r->bonds || !r->angles)
        return FAIL(ctx, STATUS_MEMORY, "no memory for rigid bonds");
    r->tolerance = params_double(p, "md.constraints", "tolerance");
    if (params_is_set(p, "md.constraints", "rigid_water"))
        read_water(p, md);
    if (params_is_set(p, "md.constraints", "below_mass"))
        r->light = params_double(p, "md.constraints", "below_mass");
    const int64_t *bonds = NULL, *angles = NULL;
    if (params_is_set(p, "md.constraints", "bond_types"))
        bonds = params_ints(p, "md.constraints", "bond_types", &n_bonds);
    if (params_is_set(p, "md.constraints", "angle_types"))
        angles = params_ints(p, "md.constraints", "angle_types", &n_angles);
    read_types(p, "bond_types", bonds, n_bonds, f->n_bonds, "bond", r->bonds);
    read_types(p, "angle_types", angles, n_angles, f->n_angles, "angle",
               r->angles);
    mark_rigid_types(md);
    r->on =
        r->water[0] >= 0 || r->light > 0 || n_bonds > 0 || has_rigid_types(md);
    if (!r->on)
        params_error(p, "md.constraints", NULL,
                     "nothing is rigid: set rigid_water, below_mass or "
                     "bond_types");
    return 0;
}

void md_rigid_free(struct md *md)
{
    free(md->rigid.bonds);
    free(md->rigid.angles);
}

/* ---- groups ---- */

/* The rigid bonds of one particle. */
struct hub {
    int64_t id[3];
    size_t term[3]; /* which of the terms it is */
    int32_t type[3];
    int32_t n;
    int32_t angle; /* type + 1; 0: none is rigid */
};

struct build {
    struct ctx *ctx;
    const struct md *md;
    const struct md_data *data;
    int32_t *species;    /* by id */
    struct hub *hubs;    /* by id */
    unsigned char *gone; /* by term: replaced */
};

static int is_water_bond(const struct build *b, const struct md_term *t)
{
    const int *water = b->md->rigid.water;
    int i = b->species[t->id[0]], j = b->species[t->id[1]];
    return water[0] >= 0 && ((i == water[0] && j == water[1]) ||
                             (i == water[1] && j == water[0]));
}

static int is_rigid_bond(const struct build *b, const struct md_term *t)
{
    const struct md_rigid_deck *r = &b->md->rigid;
    if (r->bonds[t->type] || is_water_bond(b, t))
        return 1;
    for (int k = 0; k < 2; k++)
        if (b->md->species[b->species[t->id[k]]].mass < r->light)
            return 1;
    return 0;
}

static int add_to_hub(const struct build *b, int64_t at, size_t term)
{
    const struct md_term *t = &b->data->terms[term];
    struct hub *h = &b->hubs[at];
    int64_t other = t->id[0] == at ? t->id[1] : t->id[0];
    for (int k = 0; k < h->n; k++)
        if (h->id[k] == other)
            return md_data_fail(b->ctx, b->data, term,
                                "the rigid bond of atoms %" PRId64
                                " and %" PRId64
                                " stands twice, [md.constraints]",
                                t->id[0], t->id[1]);
    if (h->n == 3)
        return md_data_fail(b->ctx, b->data, term,
                            "atom %" PRId64 " has more than three rigid bonds, "
                            "[md.constraints]",
                            at);
    h->id[h->n] = other;
    h->term[h->n] = term;
    h->type[h->n++] = t->type;
    return 0;
}

static int find_bonds(const struct build *b)
{
    for (size_t i = 0; i < b->data->n_all_terms; i++) {
        const struct md_term *t = &b->data->terms[i];
        if (t->kind != MD_TERM_BOND || !is_rigid_bond(b, t))
            continue;
        enum md_bond_style style = b->md->bonded.bonds[t->type].style;
        if (style != MD_BOND_HARMONIC && style != MD_BOND_MORSE)
            return md_data_fail(b->ctx, b->data, i,
                                "bond type %d has no length to be held at: "
                                "rigid bonds are of style harmonic or morse",
                                t->type + 1);
        if (!(b->md->bonded.bonds[t->type].r0 > 0))
            return md_data_fail(b->ctx, b->data, i,
                                "the length of bond type %d, %g, cannot be "
                                "held: that of a rigid bond is above 0",
                                t->type + 1, b->md->bonded.bonds[t->type].r0);
        b->gone[i] = 1;
        TRY(add_to_hub(b, t->id[0], i));
        TRY(add_to_hub(b, t->id[1], i));
    }
    return 0;
}

/* An angle is rigid only between two rigid bonds of its middle. */
static int find_angles(const struct build *b)
{
    const struct md_rigid_deck *r = &b->md->rigid;
    for (size_t i = 0; i < b->data->n_all_terms; i++) {
        const struct md_term *t = &b->data->terms[i];
        if (t->kind != MD_TERM_ANGLE)
            continue;
        int water = r->water[0] >= 0 && b->species[t->id[1]] == r->water[0] &&
                    b->species[t->id[0]] == r->water[1] &&
                    b->species[t->id[2]] == r->water[1];
        struct hub *h = &b->hubs[t->id[1]];
        if ((!water && !r->angles[t->type]) || h->n != 2)
            continue;
        int both = (h->id[0] == t->id[0] && h->id[1] == t->id[2]) ||
                   (h->id[0] == t->id[2] && h->id[1] == t->id[0]);
        enum md_angle_style style = b->md->bonded.angles[t->type].style;
        if (!both)
            continue;
        if (style != MD_ANGLE_HARMONIC && style != MD_ANGLE_CHARMM)
            return md_data_fail(b->ctx, b->data, i,
                                "angle type %d has no value to be held at: "
                                "rigid angles are of style harmonic or charmm",
                                t->type + 1);
        if (!(sin(b->md->bonded.angles[t->type].theta0) > 1e-6))
            return md_data_fail(b->ctx, b->data, i,
                                "angle type %d cannot be held at its value: a "
                                "rigid angle is above 0 and below 180 degrees",
                                t->type + 1);
        h->angle = t->type + 1;
        b->gone[i] = 1;
    }
    return 0;
}

/* Whether the particle is the middle of its group: the one with several rigid
 * bonds; of a single bond the heavier, or else the first. */
static int is_center(const struct build *b, int64_t id)
{
    const struct hub *h = &b->hubs[id];
    if (h->n != 1)
        return h->n > 1;
    if (b->hubs[h->id[0]].n > 1)
        return 0;
    double mass = b->md->species[b->species[id]].mass;
    double other = b->md->species[b->species[h->id[0]]].mass;
    return mass > other || (!(mass < other) && id < h->id[0]);
}

static int make_group(const struct build *b, int64_t id, struct md_term *out)
{
    static const int kinds[] = {0, MD_TERM_RIGID_BOND, MD_TERM_RIGID_PAIR,
                                MD_TERM_RIGID_THREE};
    const struct hub *h = &b->hubs[id];
    int64_t bonds = b->md->bonded.field.n_bonds, type = 0;
    *out = (struct md_term){.id = {id}, .kind = kinds[h->n]};
    for (int k = h->n - 1; k >= 0; k--) {
        if (b->hubs[h->id[k]].n > 1)
            return md_data_fail(b->ctx, b->data, h->term[k],
                                "atoms %" PRId64 " and %" PRId64 " both have "
                                "several rigid bonds; a rigid group is one "
                                "particle and up to three around it, "
                                "[md.constraints]",
                                id, h->id[k]);
        out->id[1 + k] = h->id[k];
        if (k == 1 && h->angle) {
            out->kind = MD_TERM_RIGID_WATER;
            type = h->angle - 1;
        }
        type = type * bonds + h->type[k];
    }
    if (type > INT32_MAX)
        return FAIL(b->ctx, STATUS_UNSUPPORTED,
                    "'%s': too many types of bonds for rigid ones",
                    b->data->path);
    out->type = (int32_t)type;
    return 0;
}

static int make_groups(const struct build *b, struct md_term *out, size_t *n)
{
    size_t m = 0;
    for (size_t i = 0; i < b->data->n_all_terms; i++)
        if (!b->gone[i])
            out[m++] = b->data->terms[i];
    for (int64_t id = 1; id <= b->data->n_atoms; id++)
        if (is_center(b, id))
            TRY(make_group(b, id, &out[m++]));
    *n = m;
    return 0;
}

int md_rigid_groups(struct ctx *ctx, const struct md *md,
                    const struct md_data *data, struct md_term **out, size_t *n)
{
    size_t atoms = (size_t)data->n_atoms + 1;
    struct build b = {.ctx = ctx,
                      .md = md,
                      .data = data,
                      .species = calloc(atoms, sizeof *b.species),
                      .hubs = calloc(atoms, sizeof *b.hubs),
                      .gone = calloc(data->n_all_terms + 1, 1)};
    int status = 0;
    /* A group replaces at least one bond. */
    *out = malloc((data->n_all_terms + 1) * sizeof **out);
    if (!b.species || !b.hubs || !b.gone || !*out)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for rigid bonds");
    for (int64_t i = 0; i < data->n_atoms && status == 0; i++)
        b.species[data->atoms[i].id] = data->atoms[i].species;
    if (status == 0)
        status = find_bonds(&b);
    if (status == 0)
        status = find_angles(&b);
    if (status == 0)
        status = make_groups(&b, *out, n);
    free(b.species);
    free(b.hubs);
    free(b.gone);
    return status;
}
