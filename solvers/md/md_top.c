/* md_top.c: a GROMACS topology, section by section. */
#define _POSIX_C_SOURCE 200809L /* strcasecmp */

#include "md_top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ctx.h"
#include "base/error.h"

int top_grow(struct top_text *t, void *array, size_t *capacity, size_t n,
             size_t size)
{
    void *old;
    if (n < *capacity)
        return 0;
    memcpy(&old, array, sizeof old);
    size_t grown = 2 * n + 16;
    void *fresh = realloc(old, grown * size);
    if (!fresh)
        return FAIL(t->ctx, STATUS_MEMORY, "no memory for a topology");
    memcpy(array, &fresh, sizeof fresh);
    *capacity = grown;
    return 0;
}

void md_top_free(struct top *top)
{
    top_text_close(&top->text);
    free(top->names.name);
    free(top->types);
    free(top->pairs[0]);
    free(top->pairs[1]);
    for (int k = 0; k < TOP_KINDS; k++)
        free(top->bonded[k]);
    free(top->cmaps);
    md_maps_free(&top->maps);
    for (size_t m = 0; m < top->n_molecules; m++) {
        free(top->molecules[m].atoms);
        free(top->molecules[m].excluded);
        for (int k = 0; k < TOP_KINDS; k++)
            free(top->molecules[m].terms[k]);
    }
    free(top->molecules);
    free(top->entries);
}

int64_t md_top_atoms(const struct top *top)
{
    int64_t n = 0;
    for (size_t k = 0; k < top->n_entries; k++)
        n += top->entries[k].count *
             (int64_t)top->molecules[top->entries[k].molecule].n_atoms;
    return n;
}

/* ---- [ molecules ] ---- */

static int find_molecule(const struct top *top, const char *name)
{
    for (size_t k = 0; k < top->n_molecules; k++)
        if (strcmp(top->molecules[k].name, name) == 0)
            return (int)k;
    for (size_t k = 0; k < top->n_molecules; k++) /* as GROMACS does */
        if (strcasecmp(top->molecules[k].name, name) == 0)
            return (int)k;
    return -1;
}

static int read_entry(struct top *top)
{
    struct top_text *t = &top->text;
    struct top_entry entry = {.molecule = find_molecule(top, t->word[0])};
    if (entry.molecule < 0)
        return top_fail(t, "there is no [ moleculetype ] '%.60s'", t->word[0]);
    TRY(top_whole(t, 1, 0, INT64_C(1000000000), "the number of molecules",
                  &entry.count));
    if (t->n_words > 2)
        return top_fail(t, "'%.40s' behind the number of molecules",
                        t->word[2]);
    TRY(top_grow(t, &top->entries, &top->cap_entries, top->n_entries,
                 sizeof entry));
    top->entries[top->n_entries++] = entry;
    top->n_listed +=
        entry.count * (int64_t)top->molecules[entry.molecule].n_atoms;
    if (top->n_listed > INT64_C(1000000000000))
        return top_fail(t, "more than 10^12 atoms");
    return 0;
}

/* ---- sections ---- */

/* Sections that are of no use here, and do no harm. */
static int is_skipped(const char *name)
{
    static const char *const names[] = {"system", "implicit_genborn_params",
                                        "implicit_surface_params"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcmp(name, names[k]) == 0)
            return 1;
    return 0;
}

/* What GROMACS has beyond this program. */
static int refuse(struct top *top)
{
    static const char *const names[] = {"pairs_nb",
                                        "virtual_sites1",
                                        "virtual_sites2",
                                        "virtual_sites3",
                                        "virtual_sites4",
                                        "virtual_sitesn",
                                        "dummies1",
                                        "dummies2",
                                        "dummies3",
                                        "dummies4",
                                        "dummiesn",
                                        "position_restraints",
                                        "distance_restraints",
                                        "dihedral_restraints",
                                        "orientation_restraints",
                                        "angle_restraints",
                                        "angle_restraints_z",
                                        "polarization",
                                        "water_polarization",
                                        "thole_polarization",
                                        "intermolecular_interactions"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcmp(top->text.section, names[k]) == 0)
            return top_fail(&top->text, "the section is not computed here");
    return top_fail(&top->text, "no section of this name is read");
}

static int read_line(struct top *top)
{
    struct top_text *t = &top->text;
    int known = 0;
    if (t->section[0] == '\0')
        return top_fail(t, "a line that stands in no section");
    if (is_skipped(t->section))
        return 0;
    if (strcmp(t->section, "molecules") == 0)
        return read_entry(top);
    TRY(top_read_types(top, &known));
    if (!known)
        TRY(top_read_molecule(top, &known));
    return known ? 0 : refuse(top);
}

int md_top_parse(struct ctx *ctx, const char *path, const char *const *folders,
                 size_t n_folders, const char *const *definitions,
                 size_t n_definitions, struct top *top)
{
    struct top_text *t = &top->text;
    int there;
    TRY(top_text_open(ctx, path, folders, n_folders, t));
    for (size_t k = 0; k < n_definitions; k++)
        TRY(top_text_define(t, definitions[k]));
    for (;;) {
        TRY(top_text_next(t, &there));
        if (!there)
            break;
        if (!t->is_head)
            TRY(read_line(top));
    }
    if (!top->has_defaults)
        return FAIL(ctx, STATUS_INPUT,
                    "'%s' has no section [ defaults ], as force fields have",
                    path);
    if (md_top_atoms(top) < 1)
        return FAIL(ctx, STATUS_INPUT,
                    "'%s' has no atoms: its section [ molecules ] is missing "
                    "or empty",
                    path);
    return 0;
}
