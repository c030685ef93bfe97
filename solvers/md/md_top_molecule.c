/* md_top_molecule.c: what a GROMACS topology says of molecules: their atoms,
 * and what acts between them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_top.h"

static int add_molecule(struct top *top)
{
    struct top_text *t = &top->text;
    struct top_molecule m = {0};
    if (strlen(t->word[0]) >= sizeof m.name)
        return top_fail(t, "the name of a molecule has at most %zu characters",
                        sizeof m.name - 1);
    snprintf(m.name, sizeof m.name, "%s", t->word[0]);
    TRY(top_whole(t, 1, 0, 20, "nrexcl", &m.nrexcl));
    for (size_t k = 0; k < top->n_molecules; k++)
        if (strcmp(top->molecules[k].name, m.name) == 0)
            return top_fail(t, "the molecule '%s' stands twice", m.name);
    TRY(top_grow(t, &top->molecules, &top->cap_molecules, top->n_molecules,
                 sizeof m));
    top->molecules[top->n_molecules++] = m;
    return 0;
}

static int read_atom(struct top *top, struct top_molecule *m)
{
    struct top_text *t = &top->text;
    struct top_atom atom = {.place = t->place};
    int64_t number;
    TRY(top_whole(t, 0, 1, INT32_MAX, "the atom's number", &number));
    if ((size_t)number != m->n_atoms + 1)
        return top_fail(t,
                        "atom %" PRId64 " where %zu is due: atoms are "
                        "numbered from 1 in their order",
                        number, m->n_atoms + 1);
    if (t->n_words < 6)
        return top_fail(t,
                        "%d columns: nr, type, residue's number and name, "
                        "atom, cgnr are required",
                        t->n_words);
    atom.type = top_name(&top->names, t->word[1], 0);
    if (atom.type < 0 || !top_find_type(top, atom.type))
        return top_fail(t, "there is no atom type '%.60s' in [ atomtypes ]",
                        t->word[1]);
    snprintf(atom.name, sizeof atom.name, "%.*s", TOP_NAME_MAX - 1, t->word[4]);
    atom.has_charge = t->n_words > 6;
    atom.has_mass = t->n_words > 7;
    if (atom.has_charge)
        TRY(top_real(t, 6, "the charge", &atom.charge));
    if (atom.has_mass)
        TRY(top_real(t, 7, "the mass", &atom.mass));
    if (t->n_words > 8)
        return top_fail(t, "a second state (typeB ...): free energies are not "
                           "computed here");
    TRY(top_grow(t, &m->atoms, &m->cap_atoms, m->n_atoms, sizeof atom));
    m->atoms[m->n_atoms++] = atom;
    return 0;
}

/* The atom in word w, from 0. */
static int read_index(struct top_text *t, const struct top_molecule *m, int w,
                      int32_t *atom)
{
    int64_t number;
    TRY(top_whole(t, w, 1, INT32_MAX, "an atom's number", &number));
    if ((size_t)number > m->n_atoms)
        return top_fail(t, "atom %" PRId64 ", but molecule '%s' has %zu atoms",
                        number, m->name, m->n_atoms);
    *atom = (int32_t)number - 1;
    return 0;
}

static int add_term(struct top *top, struct top_molecule *m, int kind,
                    const struct top_term *term)
{
    TRY(top_grow(&top->text, &m->terms[kind], &m->cap_terms[kind],
                 m->n_terms[kind], sizeof *term));
    m->terms[kind][m->n_terms[kind]++] = *term;
    return 0;
}

static int read_term(struct top *top, struct top_molecule *m, int kind)
{
    struct top_text *t = &top->text;
    struct top_term term = {.place = t->place};
    int size = top_size(kind);
    int64_t funct;
    for (int k = 0; k < size; k++) {
        TRY(read_index(t, m, k, &term.atom[k]));
        for (int q = 0; q < k; q++)
            if (term.atom[q] == term.atom[k])
                return top_fail(t, "atom %" PRId32 " stands in it twice",
                                term.atom[k] + 1);
    }
    TRY(top_whole(t, size, 1, 100, "the function", &funct));
    term.funct = (int)funct;
    if (top_numbers(kind, term.funct) < 0)
        return top_fail(t, "function %" PRId64 " is not computed here", funct);
    if (kind == TOP_CMAPS && t->n_words > size + 1)
        return top_fail(t, "%d columns instead of %d", t->n_words, size + 1);
    TRY(top_read_numbers(top, kind, term.funct, size + 1, term.value, &term.n));
    return add_term(top, m, kind, &term);
}

static int read_exclusions(struct top *top, struct top_molecule *m)
{
    struct top_text *t = &top->text;
    int32_t i = 0, j = 0;
    TRY(read_index(t, m, 0, &i));
    for (int w = 1; w < t->n_words; w++) {
        TRY(read_index(t, m, w, &j));
        if (i == j)
            continue;
        TRY(top_grow(t, &m->excluded, &m->cap_excluded, m->n_excluded,
                     sizeof *m->excluded));
        m->excluded[m->n_excluded][0] = i < j ? i : j;
        m->excluded[m->n_excluded++][1] = i < j ? j : i;
    }
    return 0;
}

int top_read_molecule(struct top *top, int *known)
{
    const char *name = top->text.section;
    int kind = -1;
    if (strcmp(name, "moleculetype") == 0) {
        *known = 1;
        return add_molecule(top);
    }
    for (int k = 0; k < TOP_KINDS; k++)
        if (strcmp(name, top_sections[k]) == 0)
            kind = k;
    int atoms = strcmp(name, "atoms") == 0;
    int exclusions = strcmp(name, "exclusions") == 0;
    *known = kind >= 0 || atoms || exclusions;
    if (!*known)
        return 0;
    if (top->n_molecules == 0)
        return top_fail(&top->text,
                        "the section must follow a [ moleculetype ]");
    struct top_molecule *m = &top->molecules[top->n_molecules - 1];
    return atoms        ? read_atom(top, m)
           : exclusions ? read_exclusions(top, m)
                        : read_term(top, m, kind);
}
