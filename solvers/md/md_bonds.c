/* md_bonds.c: what acts along bonds: styles and coefficients, from the deck and
 * from the data file.
 */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "md_data.h"

static const double degree = 3.14159265358979323846 / 180;

/* ---- styles ---- */

/* How many numbers a style takes, in the order of LAMMPS. */
struct style {
    const char *name;
    int style, n;
};

static const struct style bond_styles[] = {{"none", MD_BOND_NONE, 0},
                                           {"harmonic", MD_BOND_HARMONIC, 2},
                                           {"fene", MD_BOND_FENE, 4},
                                           {"morse", MD_BOND_MORSE, 3},
                                           {NULL, 0, 0}};
static const struct style angle_styles[] = {{"none", MD_ANGLE_NONE, 0},
                                            {"harmonic", MD_ANGLE_HARMONIC, 2},
                                            {"charmm", MD_ANGLE_CHARMM, 4},
                                            {"cosine", MD_ANGLE_COSINE, 1},
                                            {NULL, 0, 0}};
static const struct style dihedral_styles[] = {
    {"none", MD_DIHEDRAL_NONE, 0},
    {"charmm", MD_DIHEDRAL_CHARMM, 4},
    {"opls", MD_DIHEDRAL_OPLS, 4},
    {"multi/harmonic", MD_DIHEDRAL_MULTI, 5},
    {NULL, 0, 0}};
static const struct style improper_styles[] = {
    {"none", MD_IMPROPER_NONE, 0},
    {"harmonic", MD_IMPROPER_HARMONIC, 2},
    {"cvff", MD_IMPROPER_CVFF, 3},
    {"gromacs", MD_IMPROPER_SIGNED, 2}, /* of topologies only */
    {NULL, 0, 0}};

static const struct style *const styles[MD_DATA_KINDS] = {
    bond_styles, angle_styles, dihedral_styles, improper_styles};
static const char *const kinds[MD_DATA_KINDS] = {"bond", "angle", "dihedral",
                                                 "improper"};

static const struct style *find_style(int kind, const char *name)
{
    for (const struct style *s = styles[kind]; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

/* ---- coefficients ---- */

static void set_bond(struct md_bond_coeff *c, int style, const double *v)
{
    *c = (struct md_bond_coeff){.style = (enum md_bond_style)style};
    if (style == MD_BOND_HARMONIC) {
        c->k = v[0];
        c->r0 = v[1];
    } else if (style == MD_BOND_FENE) {
        c->k = v[0];
        c->r0 = v[1];
        c->epsilon = v[2];
        c->sigma = v[3];
    } else if (style == MD_BOND_MORSE) {
        c->k = v[0];
        c->a = v[1];
        c->r0 = v[2];
    }
}

static void set_angle(struct md_angle_coeff *c, int style, const double *v)
{
    *c = (struct md_angle_coeff){.style = (enum md_angle_style)style};
    if (style != MD_ANGLE_NONE)
        c->k = v[0];
    if (style == MD_ANGLE_HARMONIC || style == MD_ANGLE_CHARMM)
        c->theta0 = v[1] * degree;
    if (style == MD_ANGLE_CHARMM) {
        c->k_ub = v[2];
        c->r_ub = v[3];
    }
}

static void set_dihedral(struct md_dihedral_coeff *c, int style,
                         const double *v)
{
    *c = (struct md_dihedral_coeff){.style = (enum md_dihedral_style)style};
    if (style == MD_DIHEDRAL_CHARMM) {
        c->k = v[0];
        c->n = (int32_t)v[1];
        c->delta = v[2] * degree;
        c->weight = v[3];
    }
    for (int k = 0; k < 6; k++)
        if (style == MD_DIHEDRAL_MULTI || (style == MD_DIHEDRAL_OPLS && k < 4))
            c->c[k] = v[k];
}

static void set_improper(struct md_improper_coeff *c, int style,
                         const double *v)
{
    *c = (struct md_improper_coeff){.style = (enum md_improper_style)style};
    if (style != MD_IMPROPER_NONE)
        c->k = v[0];
    if (style == MD_IMPROPER_HARMONIC || style == MD_IMPROPER_SIGNED)
        c->chi0 = v[1] * degree;
    if (style == MD_IMPROPER_CVFF) {
        c->d = (int32_t)v[1];
        c->n = (int32_t)v[2];
    }
}

/* What is wrong with the numbers of a style, or NULL. */
static const char *bad_values(int kind, int style, const double *v)
{
    if (kind == MD_TERM_BOND && style == MD_BOND_FENE &&
        (!(v[1] > 0) || !(v[3] > 0)))
        return "the greatest length and sigma of a FENE bond are above 0";
    if (kind == MD_TERM_DIHEDRAL && style == MD_DIHEDRAL_CHARMM &&
        (v[1] < 0 || v[1] > 6 || floor(v[1]) < v[1]))
        return "the second number, n, is whole, 0 to 6";
    if (kind == MD_TERM_DIHEDRAL && style == MD_DIHEDRAL_CHARMM &&
        (v[3] < 0 || v[3] > 1))
        return "the weight of 1-4 pairs is 0 to 1";
    if (kind == MD_TERM_IMPROPER && style == MD_IMPROPER_CVFF &&
        (fabs(fabs(v[1]) - 1) > 0 || v[2] < 0 || v[2] > 6 ||
         floor(v[2]) < v[2]))
        return "d is 1 or -1, n whole, 0 to 6";
    return NULL;
}

/* ---- the deck ---- */

/* The style of a kind: the deck's, or what the data file says of it. */
static const struct style *choose_style(struct params *p, struct md *md,
                                        int kind)
{
    static const char *const keys[MD_DATA_KINDS] = {
        "bond_style", "angle_style", "dihedral_style", "improper_style"};
    const char *hint = md->data->hint[1 + kind], *name = hint;
    const char *asked[MD_DATA_KINDS] = {
        params_is_set(p, "md.bonds", "bond_style")
            ? params_string(p, "md.bonds", "bond_style")
            : NULL,
        params_is_set(p, "md.bonds", "angle_style")
            ? params_string(p, "md.bonds", "angle_style")
            : NULL,
        params_is_set(p, "md.bonds", "dihedral_style")
            ? params_string(p, "md.bonds", "dihedral_style")
            : NULL,
        params_is_set(p, "md.bonds", "improper_style")
            ? params_string(p, "md.bonds", "improper_style")
            : NULL};
    if (asked[kind])
        name = asked[kind];
    const struct style *s = find_style(kind, name);
    if (!s)
        params_error(p, "md.bonds", keys[kind],
                     "'%s' has %ss%s%s; set md.bonds.%s", md->data->path,
                     kinds[kind],
                     hint[0] ? " of a style that is not computed here, "
                             : ", but does not say their style",
                     hint, keys[kind]);
    return s;
}

static const char *const sections[MD_DATA_KINDS] = {
    "md.bonds.bond", "md.bonds.angle", "md.bonds.dihedral",
    "md.bonds.improper"};

/* Coefficients of the deck, [[md.bonds.KIND]], over those of the file. */
static void read_deck_coeffs(struct params *p, struct md *md, int kind)
{
    const char *section = sections[kind];
    for (int i = 0; i < params_count(p, section); i++) {
        size_t n = 0;
        int64_t type = params_int_at(p, section, i, "type");
        const double *v = params_doubles_at(p, section, i, "parameters", &n);
        if (type > md->data->n_term_types[kind]) {
            params_error_at(p, section, i, "type", "'%s' has %d %s types only",
                            md->data->path, md->data->n_term_types[kind],
                            kinds[kind]);
            continue;
        }
        if (n > MD_DATA_VALUES_MAX) {
            params_error_at(p, section, i, "parameters", "at most %d numbers",
                            MD_DATA_VALUES_MAX);
            continue;
        }
        struct md_data_coeff *c = &md->data->coeff[kind][type - 1];
        c->n = (int)n;
        c->line = 0;
        c->entry = i;
        memcpy(c->value, v, n * sizeof *v);
    }
}

static int allocate(struct ctx *ctx, struct md *md)
{
    struct md_bonded *b = &md->bonded;
    const int32_t *n = md->data->n_term_types;
    b->bonds = calloc((size_t)n[0] + 1, sizeof *b->bonds);
    b->angles = calloc((size_t)n[1] + 1, sizeof *b->angles);
    b->dihedrals = calloc((size_t)n[2] + 1, sizeof *b->dihedrals);
    b->impropers = calloc((size_t)n[3] + 1, sizeof *b->impropers);
    if (!b->bonds || !b->angles || !b->dihedrals || !b->impropers)
        return FAIL(ctx, STATUS_MEMORY, "no memory for coefficients");
    return 0;
}

static void set_type(struct md *md, int kind, int type,
                     const struct style *style, const double *v)
{
    struct md_bonded *b = &md->bonded;
    if (kind == MD_TERM_BOND)
        set_bond(&b->bonds[type], style->style, v);
    else if (kind == MD_TERM_ANGLE)
        set_angle(&b->angles[type], style->style, v);
    else if (kind == MD_TERM_DIHEDRAL)
        set_dihedral(&b->dihedrals[type], style->style, v);
    else
        set_improper(&b->impropers[type], style->style, v);
}

/* Each type of a topology has its own style. */
static void read_styled(struct params *p, struct md *md, int kind)
{
    for (int t = 0; t < md->data->n_term_types[kind]; t++) {
        const struct md_data_coeff *c = &md->data->coeff[kind][t];
        const char *bad = bad_values(kind, c->style, c->value);
        const struct style s = {NULL, c->style, c->n};
        if (bad)
            params_error(p, "md.initial", "topology", "%s type %d: %s",
                         kinds[kind], t + 1, bad);
        else
            set_type(md, kind, t, &s, c->value);
    }
}

/* Of coefficients that are there and wrong: where they stand. */
static void fail_coeff(struct params *p, const struct md *md, int kind,
                       const struct md_data_coeff *c, const char *wrong)
{
    int type = (int)(c - md->data->coeff[kind]) + 1;
    if (c->line > 0)
        params_error(p, "md.bonds", NULL, "%s:%" PRId64 ": %s type %d: %s",
                     md->data->path, c->line, kinds[kind], type, wrong);
    else
        params_error_at(p, sections[kind], c->entry, "parameters",
                        "%s type %d: %s", kinds[kind], type, wrong);
}

static void read_kind(struct params *p, struct md *md, int kind)
{
    char wrong[96];
    if (md->data->styled) {
        read_styled(p, md, kind);
        return;
    }
    read_deck_coeffs(p, md, kind);
    if (md->data->n_terms[kind] == 0)
        return;
    const struct style *style = choose_style(p, md, kind);
    for (int t = 0; style && t < md->data->n_term_types[kind]; t++) {
        const struct md_data_coeff *c = &md->data->coeff[kind][t];
        const char *bad = NULL;
        if (style->n > 0 && c->n == 0)
            params_error(p, "md.bonds", NULL,
                         "%s type %d has no coefficients: neither in '%s' nor "
                         "in a section [[md.bonds.%s]]",
                         kinds[kind], t + 1, md->data->path, kinds[kind]);
        else if (style->n > 0 && c->n != style->n) {
            snprintf(wrong, sizeof wrong, "%d numbers, but style '%s' takes %d",
                     c->n, style->name, style->n);
            fail_coeff(p, md, kind, c, wrong);
        } else if ((bad = bad_values(kind, style->style, c->value)) != NULL)
            fail_coeff(p, md, kind, c, bad);
        else
            set_type(md, kind, t, style, c->value);
    }
}

int md_bonds_read(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_bonded *b = &md->bonded;
    int64_t terms = 0;
    if (!md->data) {
        if (params_has_section(p, "md.bonds"))
            params_error(p, "md.bonds", NULL,
                         "[md.bonds] needs a data file that lists them: "
                         "md.initial.read = \"NAME.data\"");
        return 0;
    }
    terms = md->data->n_crossterms;
    for (int k = 0; k < MD_DATA_KINDS; k++)
        terms += md->data->n_terms[k];
    if (md->data->styled && params_has_section(p, "md.bonds"))
        params_error(p, "md.bonds", NULL,
                     "bonds, their coefficients and excluded pairs are those "
                     "of md.initial.topology; leave [md.bonds] out");
    if (md->data->styled)
        terms = (int64_t)md->data->n_all_terms;
    if (terms == 0)
        return 0;
    TRY(allocate(ctx, md));
    TRY(md_cmap_read(ctx, p, md));
    for (int k = 0; k < MD_DATA_KINDS; k++)
        read_kind(p, md, k);
    size_t n = 0;
    const double *lj = params_doubles(p, "md.bonds", "special_lj", &n);
    const double *q = params_doubles(p, "md.bonds", "special_coulomb", &n);
    b->field = (struct md_force_field){
        .n_bonds = md->data->n_term_types[MD_TERM_BOND],
        .n_angles = md->data->n_term_types[MD_TERM_ANGLE],
        .n_dihedrals = md->data->n_term_types[MD_TERM_DIHEDRAL],
        .n_impropers = md->data->n_term_types[MD_TERM_IMPROPER],
        .bonds = b->bonds,
        .angles = b->angles,
        .dihedrals = b->dihedrals,
        .impropers = b->impropers,
        .lj14 = b->lj14,
        .n_pairs14 = md->data->n_pairs14,
        .pairs14 = md->data->pairs14,
        .n_cmaps = b->cmaps ? md->data->maps.n : 0,
        .n_cmap_nodes = b->cmaps ? (int)md->data->maps.n_energies : 0,
        .cmaps = b->cmaps,
        .cmap_nodes = b->cmap_nodes,
    };
    for (int k = 0; k < 3; k++) {
        b->field.special_lj[k] = lj[k];
        b->field.special_coulomb[k] = q[k];
    }
    b->on = 1;
    return 0;
}

void md_bonds_free(struct md *md)
{
    free(md->bonded.bonds);
    free(md->bonded.angles);
    free(md->bonded.dihedrals);
    free(md->bonded.impropers);
    free(md->bonded.cmaps);
    free(md->bonded.cmap_nodes);
    free(md->bonded.lj14);
}
