/* md_species.c: the kinds of particles: names, masses, shares of a lattice. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/param.h"
#include "md.h"
#include "md_data.h"

/* ---- by name ---- */

int md_find_species(const struct md *md, const char *name)
{
    for (int s = 0; s < md->n_species; s++)
        if (strcmp(md->species[s].name, name) == 0)
            return s;
    return -1;
}

const char *md_species_list(const struct md *md, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (int s = 0; s < md->n_species; s++) {
        const char *comma = s > 0 ? ", " : "";
        size_t left = size - used;
        int n =
            snprintf(buffer + used, left, "%s%s", comma, md->species[s].name);
        if (n < 0 || (size_t)n >= left) {
            buffer[used] = '\0';
            break;
        }
        used += (size_t)n;
    }
    return buffer;
}

int md_read_species(struct params *p, const struct md *md, const char *section,
                    int index, const char *key, const char *name)
{
    static const char unknown[] = "unknown species '%s'; declared: %s";
    char list[256];
    int s = md_find_species(md, name);
    if (s < 0 && index < 0)
        params_error(p, section, key, unknown, name,
                     md_species_list(md, list, sizeof list));
    else if (s < 0)
        params_error_at(p, section, index, key, unknown, name,
                        md_species_list(md, list, sizeof list));
    return s;
}

int md_read_pair(struct params *p, const struct md *md, const char *section,
                 int index, const char *key, const char *const names[2],
                 int s[2])
{
    for (int e = 0; e < 2; e++) {
        s[e] = md_read_species(p, md, section, index, key, names[e]);
        if (s[e] < 0)
            return 0;
    }
    return 1;
}

/* ---- reading ---- */

/* Names of columns beside those of species, and HDF5's name for "here". */
static int has_other_meaning(const char *name)
{
    return strcmp(name, "time") == 0 || strcmp(name, "all") == 0 ||
           strcmp(name, ".") == 0;
}

static void read_one_species(struct params *p, struct md *md, int i)
{
    struct md_species *s = &md->species[i];
    const char *name = params_string_at(p, "md.species", i, "name");
    if (name[0] == '\0' || strlen(name) >= MD_NAME_MAX ||
        text_has_control(name) || strpbrk(name, " /\""))
        params_error_at(
            p, "md.species", i, "name",
            "a species name has 1 to %d characters, without blanks, "
            "quotes and slashes",
            MD_NAME_MAX - 1);
    if (has_other_meaning(name))
        params_error_at(p, "md.species", i, "name",
                        "'%s' cannot be the name of a species: it means "
                        "something else in the results",
                        name);
    for (int j = 0; j < i; j++)
        if (strcmp(name, md->species[j].name) == 0)
            params_error_at(p, "md.species", i, "name",
                            "species '%s' is already declared", name);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->mass = params_double_at(p, "md.species", i, "mass");
    s->fraction = -1;
    if (params_is_set_at(p, "md.species", i, "fraction"))
        s->fraction = params_double_at(p, "md.species", i, "fraction");
}

/* Without [[md.species]] the types of a data file are the species: named by the
 * comments behind their masses, or by their numbers. */
static void species_of_file(struct params *p, struct md *md)
{
    const struct md_data *data = md->data;
    md->n_species = data->n_types;
    for (int s = 0; s < md->n_species; s++) {
        struct md_species *to = &md->species[s];
        *to = (struct md_species){.mass = data->mass[s], .fraction = -1};
        snprintf(to->name, sizeof to->name, "%s", data->label[s]);
        for (int q = 0; q < s && to->name[0] != '\0'; q++)
            if (strcmp(md->species[q].name, to->name) == 0)
                to->name[0] = '\0';
        /* a label of digits could be the number of another type */
        if (strspn(to->name, "0123456789") == strlen(to->name) ||
            strpbrk(to->name, "/\"") || text_has_control(to->name) ||
            has_other_meaning(to->name))
            snprintf(to->name, sizeof to->name, "%d", s + 1);
        if (!(to->mass > 0) && md->units == UNITS_LJ)
            to->mass = 1;
        if (!(to->mass > 0))
            params_error(p, "md.species", "name",
                         "'%s' has no mass of type %d; give it there under "
                         "Masses, or in [[md.species]]",
                         data->path, s + 1);
    }
}

/* Species stand in the order of the file's types: one that the file calls as
 * another species is called stands in the wrong place. */
static void check_order(struct params *p, const struct md *md)
{
    const struct md_data *data = md->data;
    for (int i = 0; i < md->n_species && i < data->n_types; i++) {
        int j = md_find_species(md, data->label[i]);
        if (j < 0 || j == i ||
            (j < data->n_types &&
             strcmp(data->label[j], md->species[j].name) == 0))
            continue;
        params_error_at(p, "md.species", i, "name",
                        "atom type %d is called '%s' in '%s': species stand in "
                        "the order of its types",
                        i + 1, data->label[i], data->path);
    }
}

void md_species_read(struct params *p, struct md *md)
{
    int n = params_count(p, "md.species");
    md->n_species = n > MD_SPECIES_MAX ? MD_SPECIES_MAX : n;
    if (n > MD_SPECIES_MAX)
        params_error_at(p, "md.species", MD_SPECIES_MAX, "name",
                        "at most %d species", MD_SPECIES_MAX);
    for (int i = 0; i < md->n_species; i++)
        read_one_species(p, md, i);
    if (n > 0 && md->data && !md->data->styled)
        check_order(p, md);
    if (n == 0 && md->data) {
        species_of_file(p, md);
    } else if (n == 0) {
        md->n_species = 1;
        md->species[0] =
            (struct md_species){.name = "A", .mass = 1, .fraction = -1};
        if (md->units != UNITS_LJ)
            params_error(
                p, "md.species", "name",
                "in %s units at least one [[md.species]] with name and "
                "mass is required",
                unit_system_name(md->units));
    }
}

void md_species_shares(struct params *p, struct md *md)
{
    double sum = 0;
    for (int i = 0; i < md->n_species; i++) {
        struct md_species *s = &md->species[i];
        if (s->fraction < 0 && md->n_species > 1) {
            params_error_at(
                p, "md.species", i, "fraction",
                "a lattice of several species needs the fraction of "
                "'%s'",
                s->name);
            return;
        }
        if (s->fraction < 0)
            s->fraction = 1;
        sum += s->fraction;
    }
    if (fabs(sum - 1) > 1e-9)
        params_error_at(
            p, "md.species", 0, "fraction",
            "the fractions of all species add up to %.10g, not to 1", sum);
}
