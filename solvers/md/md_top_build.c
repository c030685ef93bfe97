/* md_top_build.c: what a GROMACS topology means here: species, and the pairs of
 * them; molecules one of each kind, and then all.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_top_build.h"

int top_no_memory(const struct top_build *b)
{
    return FAIL(b->top->text.ctx, STATUS_MEMORY, "no memory for a topology");
}

/* ---- species ---- */

/* An atom type of one mass is a species. */
static int find_species(struct top_build *b, const struct top_atom *atom,
                        const struct top_atomtype *type, double mass,
                        int32_t *species)
{
    struct md_data *data = b->data;
    double scaled = mass * b->scale->mass;
    for (*species = 0; *species < data->n_types; ++*species)
        if (b->type[*species] == type->name &&
            !(fabs(data->mass[*species] - scaled) > 0))
            return 0;
    if (data->n_types == MD_SPECIES_MAX)
        return top_fail_at(&b->top->text, atom->place, "atoms",
                           "more than %d atom types are in use",
                           MD_SPECIES_MAX);
    b->type[*species] = type->name;
    data->mass[*species] = scaled;
    snprintf(data->label[*species], MD_DATA_LABEL_MAX, "%s",
             b->top->names.name[type->name]);
    data->n_types++;
    return 0;
}

static int make_atom(struct top_build *b, size_t i)
{
    const struct top_atom *atom = &b->molecule->atoms[i];
    const struct top_atomtype *type = top_find_type(b->top, atom->type);
    struct md_particle *p = &b->atoms[i];
    double mass = atom->has_mass ? atom->mass : type->mass;
    double charge = atom->has_charge ? atom->charge : type->charge;
    if (type->particle != 'A')
        return top_fail_at(&b->top->text, atom->place, "atoms",
                           "'%s' is no atom but of particle type %c, which is "
                           "not computed here",
                           atom->name, type->particle);
    if (!(mass > 0))
        return top_fail_at(&b->top->text, atom->place, "atoms",
                           "the mass of '%s' is %g; it must be above 0",
                           atom->name, mass);
    *p = (struct md_particle){.charge = charge * b->scale->charge};
    b->data->charged |= charge < 0 || charge > 0;
    return find_species(b, atom, type, mass, &p->species);
}

/* ---- Lennard-Jones ---- */

/* The two numbers of a file as c12 and c6, in the deck's units. A negative
 * sigma means no attraction, as in GROMACS. */
void top_powers(const struct top_build *b, double v, double w, double out[2])
{
    double l6 = pow(b->scale->length, 6), s6 = pow(fabs(v), 6);
    out[0] = w;
    out[1] = v;
    if (b->top->combination != 1) {
        out[0] = 4 * w * s6 * s6;
        out[1] = v < 0 ? 0 : 4 * w * s6;
    }
    out[0] *= b->scale->energy * l6 * l6;
    out[1] *= b->scale->energy * l6;
}

/* Both numbers of a pair: given, or by the rule for unlike ones. */
void top_combine(const struct top *top, int a, int b, double *v, double *w)
{
    const struct top_pairtype *given = top_find_pair(top, 0, a, b);
    const struct top_atomtype *p = top_find_type(top, a);
    const struct top_atomtype *q = top_find_type(top, b);
    if (given) {
        *v = given->v;
        *w = given->w;
        return;
    }
    *w = sqrt(p->w * q->w);
    *v = sqrt(fabs(p->v * q->v));
    if (top->combination == 2)
        *v = 0.5 * (fabs(p->v) + fabs(q->v));
    if (top->combination != 1 && (p->v < 0 || q->v < 0))
        *v = -*v;
}

static int make_pairs(struct top_build *b)
{
    struct md_data *data = b->data;
    size_t n = (size_t)data->n_types;
    data->lj = calloc(n * n, sizeof *data->lj);
    if (!data->lj)
        return top_no_memory(b);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double v, w;
            top_combine(b->top, b->type[i], b->type[j], &v, &w);
            top_powers(b, v, w, data->lj[i * n + j]);
        }
    return 0;
}

/* ---- all molecules ---- */

static int make_molecule(struct top_build *b, const struct top_molecule *m)
{
    b->molecule = m;
    b->n_terms = b->n_links = 0;
    free(b->atoms);
    b->atoms = calloc(m->n_atoms + 1, sizeof *b->atoms);
    if (!b->atoms)
        return top_no_memory(b);
    for (size_t i = 0; i < m->n_atoms; i++)
        TRY(make_atom(b, i));
    return top_make_terms(b);
}

/* `count` copies of the present molecule, behind the `*n` atoms so far. */
static int copy_molecule(struct top_build *b, int64_t count, int64_t *n)
{
    struct md_data *data = b->data;
    size_t terms = data->n_all_terms + (size_t)count * b->n_terms;
    struct md_term *grown = realloc(data->terms, (terms + 1) * sizeof *grown);
    if (!grown)
        return top_no_memory(b);
    data->terms = grown;
    for (int64_t c = 0; c < count; c++) {
        for (size_t k = 0; k < b->n_terms; k++) {
            struct md_term t = b->terms[k];
            for (int e = 0; e < md_term_size(t.kind); e++)
                t.id[e] += *n;
            if (t.kind < MD_DATA_KINDS)
                data->n_terms[t.kind]++;
            data->n_crossterms += t.kind == MD_TERM_CMAP;
            data->terms[data->n_all_terms++] = t;
        }
        for (size_t i = 0; i < b->molecule->n_atoms; i++) {
            data->atoms[*n] = b->atoms[i];
            data->count[b->atoms[i].species]++;
            ++*n;
            data->atoms[*n - 1].id = *n;
        }
    }
    return 0;
}

static int make_all(struct top_build *b)
{
    struct top *top = b->top;
    int64_t n = 0;
    b->data->n_atoms = md_top_atoms(top);
    b->data->atoms =
        calloc((size_t)b->data->n_atoms + 1, sizeof *b->data->atoms);
    if (!b->data->atoms)
        return top_no_memory(b);
    for (size_t k = 0; k < top->n_entries; k++) {
        const struct top_entry *entry = &top->entries[k];
        if (entry->count == 0)
            continue;
        TRY(make_molecule(b, &top->molecules[entry->molecule]));
        TRY(copy_molecule(b, entry->count, &n));
    }
    TRY(top_make_maps(b));
    return make_pairs(b);
}

int md_top_build(struct top *top, const struct top_scale *scale,
                 struct md_data *data)
{
    struct top_build b = {.top = top, .scale = scale, .data = data};
    data->styled = 1;
    int status = make_all(&b);
    for (int k = 0; k < MD_DATA_KINDS && status == 0; k++)
        if (!data->coeff[k]) /* one entry at least is shared out */
            data->coeff[k] = calloc(1, sizeof *data->coeff[k]);
    free(b.atoms);
    free(b.terms);
    free(b.links);
    return status;
}
