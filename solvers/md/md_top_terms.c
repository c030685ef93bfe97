/* md_top_terms.c: terms and coefficients of one molecule of a GROMACS topology,
 * and the pairs in it that are left out.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_top_build.h"

static const double degree = 3.14159265358979323846 / 180;

static int fail_term(const struct top_build *b, const struct top_term *term,
                     int kind, const char *what)
{
    return top_fail_at(&b->top->text, term->place, top_sections[kind], "%s",
                       what);
}

/* ---- coefficients ---- */

static int find_coeff(struct top_build *b, int kind, struct md_data_coeff *c,
                      int32_t *type)
{
    struct md_data *data = b->data;
    int32_t n = data->n_term_types[kind];
    for (*type = 0; *type < n; ++*type)
        if (memcmp(&data->coeff[kind][*type], c, sizeof *c) == 0)
            return 0;
    TRY(top_grow(&b->top->text, &data->coeff[kind], &b->cap_coeff[kind],
                 (size_t)n + 1, sizeof *c));
    data->coeff[kind][n] = *c;
    memset(&data->coeff[kind][n + 1], 0, sizeof *c);
    data->n_term_types[kind]++;
    return 0;
}

int top_add_term(struct top_build *b, int kind, int32_t type,
                 const int32_t *atom)
{
    struct md_term t = {.kind = kind, .type = type};
    for (int k = 0; k < md_term_size(kind); k++)
        t.id[k] = atom[k] + 1;
    TRY(top_grow(&b->top->text, &b->terms, &b->cap_terms, b->n_terms,
                 sizeof t));
    b->terms[b->n_terms++] = t;
    return 0;
}

/* A term of a style with its numbers, in the order of LAMMPS. */
static int add(struct top_build *b, int kind, int style, int rigid, int n,
               const double *value, const int32_t *atom)
{
    struct md_data_coeff c;
    int32_t type = 0;
    memset(&c, 0, sizeof c); /* compared byte by byte */
    c.n = n;
    c.style = style;
    c.rigid = rigid;
    for (int k = 0; k < n; k++)
        c.value[k] = value[k];
    TRY(find_coeff(b, kind, &c, &type));
    return top_add_term(b, kind, type, atom);
}

static int add_link(struct top_build *b, int32_t i, int32_t j)
{
    TRY(top_grow(&b->top->text, &b->links, &b->cap_links, b->n_links,
                 sizeof *b->links));
    b->links[b->n_links][0] = i;
    b->links[b->n_links++][1] = j;
    return 0;
}

/* ---- terms ---- */

static int make_bond(struct top_build *b, int funct, const double *v,
                     const int32_t *atom)
{
    double l = b->scale->length, e = b->scale->energy;
    if (funct != 6)
        TRY(add_link(b, atom[0], atom[1]));
    if (funct == 3) {
        const double morse[] = {v[1] * e, v[2] / l, v[0] * l};
        return add(b, MD_TERM_BOND, MD_BOND_MORSE, 0, 3, morse, atom);
    }
    if (funct == 5)
        return add(b, MD_TERM_BOND, MD_BOND_NONE, 0, 0, NULL, atom);
    if (funct == 7) { /* without the repulsion, which a pair may have */
        const double fene[] = {v[1] * e / (l * l), v[0] * l, 0,
                               1e-3 * v[0] * l};
        return add(b, MD_TERM_BOND, MD_BOND_FENE, 0, 4, fene, atom);
    }
    const double harmonic[] = {0.5 * v[1] * e / (l * l), v[0] * l};
    return add(b, MD_TERM_BOND, MD_BOND_HARMONIC, 0, 2, harmonic, atom);
}

static int make_angle(struct top_build *b, int funct, const double *v,
                      const int32_t *atom)
{
    double l = b->scale->length, e = b->scale->energy;
    double c[4] = {0.5 * v[1] * e, v[0], 0, 0};
    if (funct == 1)
        return add(b, MD_TERM_ANGLE, MD_ANGLE_HARMONIC, 0, 2, c, atom);
    c[2] = 0.5 * v[3] * e / (l * l);
    c[3] = v[2] * l;
    return add(b, MD_TERM_ANGLE, MD_ANGLE_CHARMM, 0, 4, c, atom);
}

/* Ryckaert and Bellemans count the angle from trans: cos(phi - 180 degrees). */
static int make_dihedral(struct top_build *b, int funct, const double *v,
                         const int32_t *atom)
{
    double e = b->scale->energy, c[6] = {0}, size = 0;
    if (funct == 2) {
        const double improper[] = {0.5 * v[1] * e, v[0]};
        return add(b, MD_TERM_IMPROPER, MD_IMPROPER_SIGNED, 0, 2, improper,
                   atom);
    }
    if (funct == 3 || funct == 5) {
        int n = funct == 3 ? 6 : 4;
        for (int k = 0; k < n; k++) {
            c[k] = v[k] * e * (funct == 3 && k % 2 == 1 ? -1 : 1);
            size += fabs(c[k]);
        }
        if (!(size > 0))
            return 0;
        return add(b, MD_TERM_DIHEDRAL,
                   funct == 3 ? MD_DIHEDRAL_MULTI : MD_DIHEDRAL_OPLS, 0, n, c,
                   atom);
    }
    double sign = v[2] < 0 ? -1 : 1;
    const double periodic[] = {v[1] * e, sign * v[2], sign * v[0], 0};
    if (!(fabs(v[1]) > 0))
        return 0;
    return add(b, MD_TERM_DIHEDRAL, MD_DIHEDRAL_CHARMM, 0, 4, periodic, atom);
}

static int make_constraint(struct top_build *b, int funct, const double *v,
                           const int32_t *atom)
{
    const double bond[] = {0, v[0] * b->scale->length};
    if (funct == 1)
        TRY(add_link(b, atom[0], atom[1]));
    return add(b, MD_TERM_BOND, MD_BOND_HARMONIC, 1, 2, bond, atom);
}

/* A rigid water: two bonds and the angle between them. */
static int make_settle(struct top_build *b, const struct top_term *term)
{
    const double *v = term->value;
    int32_t o = term->atom[0];
    const int32_t first[] = {o, o + 1}, second[] = {o, o + 2},
                  angle[] = {o + 1, o, o + 2};
    if ((size_t)o + 2 >= b->molecule->n_atoms || term->n != 2)
        return fail_term(b, term, TOP_SETTLES,
                         "expected an oxygen that two hydrogens follow, the "
                         "function 1, and two distances");
    if (!(v[0] > 0) || !(v[1] > 0) || !(v[1] < 2 * v[0]))
        return fail_term(b, term, TOP_SETTLES,
                         "the distances make no triangle");
    const double bond[] = {0, v[0] * b->scale->length};
    const double bend[] = {0, 2 * asin(0.5 * v[1] / v[0]) / degree};
    TRY(add_link(b, o, o + 1));
    TRY(add_link(b, o, o + 2));
    TRY(add(b, MD_TERM_BOND, MD_BOND_HARMONIC, 1, 2, bond, first));
    TRY(add(b, MD_TERM_BOND, MD_BOND_HARMONIC, 1, 2, bond, second));
    return add(b, MD_TERM_ANGLE, MD_ANGLE_HARMONIC, 1, 2, bend, angle);
}

/* Lennard-Jones of a 1-4 pair: its own, that of its types, or a share of that
 * of any pair. */
static int pair_numbers(const struct top_build *b, const struct top_term *term,
                        double *v, double *w)
{
    const struct top *top = b->top;
    int i = b->molecule->atoms[term->atom[0]].type;
    int j = b->molecule->atoms[term->atom[1]].type;
    const struct top_pairtype *known = top_find_pair(top, 1, i, j);
    if (term->n > 0) {
        *v = term->value[term->funct == 2 ? 3 : 0];
        *w = term->value[term->funct == 2 ? 4 : 1];
    } else if (known) {
        *v = known->v;
        *w = known->w;
    } else if (top->generate_pairs) {
        top_combine(top, i, j, v, w);
        *v *= top->combination == 1 ? top->fudge_lj : 1;
        *w *= top->fudge_lj;
    } else {
        return top_fail_at(&b->top->text, term->place, "pairs",
                           "no parameters here, none for the types %s and %s "
                           "in [ pairtypes ], and gen-pairs is no",
                           top->names.name[i], top->names.name[j]);
    }
    return 0;
}

static int make_pair(struct top_build *b, const struct top_term *term)
{
    struct md_pair14 c = {.weight = b->top->fudge_qq};
    struct md_data *data = b->data;
    double v, w, powers[2], e = b->scale->charge;
    int32_t type = 0;
    if (term->funct == 2 && term->n == 0)
        return fail_term(b, term, TOP_PAIRS, "function 2 needs its numbers");
    TRY(pair_numbers(b, term, &v, &w));
    top_powers(b, v, w, powers);
    c.c12 = powers[0];
    c.c6 = powers[1];
    if (term->funct == 2) {
        c.weight = 0;
        c.qq = term->value[0] * term->value[1] * term->value[2] * e * e;
    }
    while (type < data->n_pairs14 &&
           memcmp(&data->pairs14[type], &c, sizeof c) != 0)
        type++;
    if (type == data->n_pairs14) {
        TRY(top_grow(&b->top->text, &data->pairs14, &b->cap_pairs14,
                     (size_t)type, sizeof c));
        data->pairs14[data->n_pairs14++] = c;
    }
    return top_add_term(b, MD_TERM_PAIR14, type, term->atom);
}

static int fail_unknown(const struct top_build *b, const struct top_term *term,
                        int kind, const int *type)
{
    char text[4 * (TOP_NAME_MAX + 1)] = "";
    size_t used = 0;
    for (int k = 0; k < top_size(kind); k++) {
        int n = snprintf(text + used, sizeof text - used, "%s%s",
                         k > 0 ? "-" : "", b->top->names.name[type[k]]);
        used += n > 0 ? (size_t)n : 0;
    }
    return top_fail_at(&b->top->text, term->place, top_sections[kind],
                       "no parameters here, and none of function %d for the "
                       "types %s",
                       term->funct, text);
}

static int make_one(struct top_build *b, int kind, const struct top_term *term,
                    const double *v)
{
    switch (kind) {
    case TOP_BONDS:
        return make_bond(b, term->funct, v, term->atom);
    case TOP_ANGLES:
        return make_angle(b, term->funct, v, term->atom);
    case TOP_DIHEDRALS:
        return make_dihedral(b, term->funct, v, term->atom);
    default:
        return make_constraint(b, term->funct, v, term->atom);
    }
}

static int make_term(struct top_build *b, int kind, const struct top_term *term)
{
    int type[4];
    size_t n;
    if (kind == TOP_CMAPS)
        return top_make_cmap(b, term);
    if (kind == TOP_PAIRS)
        return make_pair(b, term);
    if (kind == TOP_SETTLES)
        return make_settle(b, term);
    if (term->n > 0 || top_numbers(kind, term->funct) == 0)
        return make_one(b, kind, term, term->value);
    for (int k = 0; k < top_size(kind); k++)
        type[k] = top_find_type(b->top, b->molecule->atoms[term->atom[k]].type)
                      ->bonded;
    const struct top_bondedtype *entry =
        top_find_bonded(b->top, kind, term->funct, type, &n);
    if (!entry)
        return fail_unknown(b, term, kind, type);
    for (size_t k = 0; k < n; k++)
        TRY(make_one(b, kind, term, entry[k].value));
    return 0;
}

/* ---- pairs that are left out ---- */

static int by_pair(const void *a, const void *b)
{
    const int32_t *p = a, *q = b;
    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

/* Atoms up to nrexcl links from atom i, of higher number, into list. links[]
 * are sorted and hold both directions; first[i]: where those of i begin. */
static int walk(struct top_build *b, int32_t i, const size_t *first,
                int32_t *queue, int32_t *seen, int32_t (**list)[2], size_t *n,
                size_t *capacity)
{
    size_t begin = 0, end = 1;
    queue[0] = i;
    seen[i] = i + 1;
    for (int64_t step = 0; step < b->molecule->nrexcl; step++) {
        size_t next = end;
        for (; begin < end; begin++)
            for (size_t k = first[queue[begin]]; k < first[queue[begin] + 1];
                 k++) {
                int32_t j = b->links[k][1];
                if (seen[j] == i + 1)
                    continue;
                seen[j] = i + 1;
                queue[next++] = j;
                if (j < i)
                    continue;
                TRY(top_grow(&b->top->text, list, capacity, *n, sizeof **list));
                (*list)[*n][0] = i;
                (*list)[(*n)++][1] = j;
            }
        end = next;
    }
    return 0;
}

static int exclude(struct top_build *b, const size_t *first, int32_t *queue,
                   int32_t *seen)
{
    const struct top_molecule *m = b->molecule;
    int32_t(*list)[2] = NULL;
    size_t n = 0, capacity = 0;
    int status = 0;
    for (size_t i = 0; i < m->n_atoms; i++)
        TRY_CLEANUP(
            walk(b, (int32_t)i, first, queue, seen, &list, &n, &capacity));
    for (size_t k = 0; k < m->n_excluded; k++) {
        TRY_CLEANUP(top_grow(&b->top->text, &list, &capacity, n, sizeof *list));
        memcpy(list[n++], m->excluded[k], sizeof *list);
    }
    if (n > 0)
        qsort(list, n, sizeof *list, by_pair);
    for (size_t k = 0; k < n; k++)
        if (k == 0 || by_pair(list[k - 1], list[k]) != 0)
            TRY_CLEANUP(top_add_term(b, MD_TERM_SPECIAL, 0, list[k]));
cleanup:
    free(list);
    return status;
}

static int make_excluded(struct top_build *b)
{
    size_t atoms = b->molecule->n_atoms, links = b->n_links;
    size_t *first = calloc(atoms + 2, sizeof *first);
    int32_t *queue = calloc(atoms + 1, sizeof *queue);
    int32_t *seen = calloc(atoms + 1, sizeof *seen);
    int status = first && queue && seen ? 0 : top_no_memory(b);
    for (size_t k = 0; k < links && status == 0; k++)
        status = add_link(b, b->links[k][1], b->links[k][0]);
    if (status == 0 && b->n_links > 0)
        qsort(b->links, b->n_links, sizeof *b->links, by_pair);
    for (size_t k = 0; k < b->n_links && status == 0; k++)
        first[b->links[k][0] + 1]++;
    for (size_t i = 0; i < atoms && status == 0; i++)
        first[i + 1] += first[i];
    if (status == 0)
        status = exclude(b, first, queue, seen);
    free(first);
    free(queue);
    free(seen);
    return status;
}

int top_make_terms(struct top_build *b)
{
    const struct top_molecule *m = b->molecule;
    for (int kind = 0; kind < TOP_KINDS; kind++)
        for (size_t k = 0; k < m->n_terms[kind]; k++)
            TRY(make_term(b, kind, &m->terms[kind][k]));
    return make_excluded(b);
}
