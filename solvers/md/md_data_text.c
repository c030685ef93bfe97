/* md_data_text.c: the text of a LAMMPS data file. */
#define _POSIX_C_SOURCE 200809L /* fileno */

#include "md_data_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "base/error.h"

/* The next line that has words, cut into them. 0: *there = 0 at the end. */
static int next_line(struct text *t, int *there)
{
    do {
        TRY(md_text_words(&t->in, there));
    } while (*there && t->in.n_words == 0);
    return 0;
}

/* ---- the header ---- */

enum { MAP_TYPES_MAX = 1000000 };

static const char *const kind_plural[MD_DATA_KINDS] = {
    "bonds", "angles", "dihedrals", "impropers"};
static const char *const kind_name[MD_DATA_KINDS] = {"bond", "angle",
                                                     "dihedral", "improper"};

/* LAMMPS's other lines, of no use here; all else is a line gone wrong. */
static int skip_header_line(struct text *t)
{
    static const char *const known[] = {"ellipsoids", "lines", "triangles",
                                        "bodies", "extra"};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (t->in.n_words > 1 && strcmp(t->in.word[1], known[k]) == 0)
            return 0;
    return md_text_fail(&t->in,
                        "a line of the header that is not understood: expected "
                        "'N atoms', 'N atom types', 'xlo xhi', 'xy xz yz' and "
                        "the like behind their numbers");
}

static int read_box(struct text *t, struct md_data *data)
{
    static const char *const names[] = {"xlo", "ylo", "zlo"};
    for (int d = 0; d < 3; d++)
        if (t->in.n_words == 4 && strcmp(t->in.word[2], names[d]) == 0) {
            TRY(md_text_real(&t->in, 0, "the box's lower edge", &data->lo[d]));
            TRY(md_text_real(&t->in, 1, "the box's upper edge", &data->hi[d]));
            if (!(data->hi[d] > data->lo[d]))
                return md_text_fail(&t->in, "the box has no length in %c",
                                    "xyz"[d]);
            return 0;
        }
    if (t->in.n_words == 6 && strcmp(t->in.word[3], "xy") == 0) {
        for (int d = 0; d < 3; d++)
            TRY(md_text_real(&t->in, d, "the tilt", &data->tilt[d]));
        return 0;
    }
    return skip_header_line(t);
}

/* "N atoms", "N bond types", ... */
static int read_header_line(struct text *t, struct md_data *data)
{
    int64_t v;
    if (t->in.n_words == 2 && strcmp(t->in.word[1], "atoms") == 0)
        return md_text_whole(&t->in, 0, 1, INT64_C(1000000000000),
                             "the number of atoms", &data->n_atoms);
    if (t->in.n_words == 3 && strcmp(t->in.word[2], "types") == 0) {
        if (strcmp(t->in.word[1], "atom") == 0) {
            TRY(md_text_whole(&t->in, 0, 1, MD_SPECIES_MAX,
                              "the number of atom types", &v));
            data->n_types = (int32_t)v;
            return 0;
        }
        for (int k = 0; k < MD_DATA_KINDS; k++)
            if (strcmp(t->in.word[1], kind_name[k]) == 0) {
                TRY(md_text_whole(&t->in, 0, 0, 1000000, "the number of types",
                                  &v));
                data->n_term_types[k] = (int32_t)v;
                return 0;
            }
    }
    for (int k = 0; k < MD_DATA_KINDS; k++)
        if (t->in.n_words == 2 && strcmp(t->in.word[1], kind_plural[k]) == 0)
            return md_text_whole(&t->in, 0, 0, INT64_C(1000000000000),
                                 "the number of terms", &data->n_terms[k]);
    /* LAMMPS itself writes the name of its fix before the word. */
    if ((t->in.n_words == 2 || t->in.n_words == 3) &&
        strcmp(t->in.word[t->in.n_words - 1], "crossterms") == 0)
        return md_text_whole(&t->in, 0, 0, INT64_C(1000000000000),
                             "the number of terms", &data->n_crossterms);
    return read_box(t, data);
}

static int is_section(const struct text *t)
{
    char c = t->in.word[0][0];
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Before memory is asked for on the word of the header. */
static int check_counts(struct text *t, const struct md_data *data)
{
    struct stat file;
    if (fstat(fileno(t->in.file), &file) != 0 || !S_ISREG(file.st_mode))
        return 0;
    for (int k = -2; k < MD_DATA_KINDS; k++) {
        int64_t n = k == -2   ? data->n_crossterms
                    : k == -1 ? data->n_atoms
                              : data->n_terms[k];
        if (n > file.st_size)
            return md_text_fail(&t->in,
                                "the header promises %" PRId64
                                " %s, more than the file has bytes",
                                n,
                                k == -2   ? "crossterms"
                                : k == -1 ? "atoms"
                                          : kind_plural[k]);
    }
    return 0;
}

static int check_header(struct text *t, struct md_data *data)
{
    if (data->n_atoms < 1 || data->n_types < 1)
        return md_text_fail(&t->in,
                            "the header promises no atoms or no atom types");
    for (int d = 0; d < 3; d++)
        if (!(data->hi[d] > data->lo[d]))
            return md_text_fail(&t->in, "the header has no line '%clo %chi'",
                                "xyz"[d], "xyz"[d]);
    TRY(check_counts(t, data));
    size_t terms = (size_t)data->n_crossterms;
    for (int k = 0; k < MD_DATA_KINDS; k++) {
        terms += (size_t)data->n_terms[k];
        if (data->n_terms[k] > 0 && data->n_term_types[k] < 1)
            return md_text_fail(&t->in, "the header has %s, but no %s types",
                                kind_plural[k], kind_name[k]);
        data->coeff[k] =
            calloc((size_t)data->n_term_types[k] + 1, sizeof *data->coeff[k]);
        if (!data->coeff[k])
            return FAIL(t->in.ctx, STATUS_MEMORY, "no memory for '%s'",
                        t->in.path);
    }
    size_t atoms = (size_t)data->n_atoms;
    data->atoms = calloc(atoms, sizeof *data->atoms);
    data->terms = malloc((terms + 1) * sizeof *data->terms);
    t->seen = calloc(atoms / 8 + 1, 1);
    if (!data->atoms || !data->terms || !t->seen)
        return FAIL(t->in.ctx, STATUS_MEMORY,
                    "no memory for the %" PRId64 " atoms and %zu terms that "
                    "'%s' promises",
                    data->n_atoms, terms, t->in.path);
    return 0;
}

/* ---- terms and coefficients ---- */

static int read_term(struct text *t, struct md_data *data, int kind,
                     int32_t n_types)
{
    struct md_term *term = &data->terms[data->n_all_terms];
    int size = md_term_size(kind);
    int64_t type;
    if (t->in.n_words != 2 + size)
        return md_text_fail(&t->in, "%d columns instead of %d", t->in.n_words,
                            2 + size);
    TRY(md_text_whole(&t->in, 1, 1, n_types, "the type", &type));
    *term = (struct md_term){.kind = kind, .type = (int32_t)type - 1};
    for (int k = 0; k < size; k++) {
        TRY(md_text_whole(&t->in, 2 + k, 1, data->n_atoms, "an atom's id",
                          &term->id[k]));
        for (int q = 0; q < k; q++)
            if (term->id[q] == term->id[k])
                return md_text_fail(
                    &t->in, "atom %" PRId64 " stands in it twice", term->id[k]);
    }
    data->n_all_terms++;
    return 0;
}

/* The numbers behind the first `before` words. */
static int read_values(struct text *t, int before, struct md_data_coeff *c)
{
    c->line = t->in.number;
    if (t->in.n_words <= before || t->in.n_words > before + MD_DATA_VALUES_MAX)
        return md_text_fail(&t->in, "%d numbers instead of 1 to %d",
                            t->in.n_words - before, MD_DATA_VALUES_MAX);
    for (c->n = 0; c->n < t->in.n_words - before; c->n++)
        TRY(md_text_real(&t->in, before + c->n, "a coefficient",
                         &c->value[c->n]));
    return 0;
}

static int read_coeff(struct text *t, int32_t n_types,
                      struct md_data_coeff *coeff)
{
    int64_t type;
    TRY(md_text_whole(&t->in, 0, 1, n_types, "the type", &type));
    if (coeff[type - 1].n > 0)
        return md_text_fail(&t->in, "type %" PRId64 " stands twice", type);
    return read_values(t, 1, &coeff[type - 1]);
}

static int read_pair(struct text *t, struct md_data *data)
{
    int64_t a, b;
    TRY(md_text_whole(&t->in, 0, 1, data->n_types, "the first type", &a));
    TRY(md_text_whole(&t->in, 1, 1, data->n_types, "the second type", &b));
    struct md_data_coeff *c =
        &data->pair_ij[md_data_ij((int32_t)a - 1, (int32_t)b - 1)];
    if (c->n > 0)
        return md_text_fail(
            &t->in,
            "the pair of types %" PRId64 " and %" PRId64 " stands twice", a, b);
    return read_values(t, 2, c);
}

static int read_mass(struct text *t, struct md_data *data)
{
    int64_t type;
    if (t->in.n_words != 2)
        return md_text_fail(&t->in, "%d columns instead of 2", t->in.n_words);
    TRY(md_text_whole(&t->in, 0, 1, data->n_types, "the type", &type));
    if (data->mass[type - 1] > 0)
        return md_text_fail(&t->in, "type %" PRId64 " stands twice", type);
    TRY(md_text_real(&t->in, 1, "the mass", &data->mass[type - 1]));
    if (!(data->mass[type - 1] > 0))
        return md_text_fail(&t->in, "the mass must be above 0");
    md_data_hint(t, data->label[type - 1]);
    return 0;
}

/* ---- sections ---- */

enum section {
    ATOMS,
    VELOCITIES,
    MASSES,
    PAIR_IJ,
    PAIR,
    COEFFS,                         /* + kind */
    TERMS = COEFFS + MD_DATA_KINDS, /* + kind */
    CROSSTERMS = TERMS + MD_DATA_KINDS,
    SECTIONS
};

static const char *const section_names[SECTIONS] = {
    "Atoms",           "Velocities",  "Masses",       "PairIJ Coeffs",
    "Pair Coeffs",     "Bond Coeffs", "Angle Coeffs", "Dihedral Coeffs",
    "Improper Coeffs", "Bonds",       "Angles",       "Dihedrals",
    "Impropers",       "CMAP"};

static int64_t section_rows(const struct md_data *data, int section)
{
    if (section == ATOMS || section == VELOCITIES)
        return data->n_atoms;
    if (section == MASSES || section == PAIR)
        return data->n_types;
    if (section == PAIR_IJ)
        return (int64_t)md_data_ij(data->n_types, 0);
    if (section < TERMS)
        return data->n_term_types[section - COEFFS];
    if (section == CROSSTERMS)
        return data->n_crossterms;
    return data->n_terms[section - TERMS];
}

static int read_row(struct text *t, struct md_data *data, int section,
                    int64_t row)
{
    if (section == ATOMS)
        return md_data_read_atom(t, data, row);
    if (section == VELOCITIES)
        return md_data_read_velocity(t, data);
    if (section == MASSES)
        return read_mass(t, data);
    if (section == PAIR)
        return read_coeff(t, data->n_types, data->pair);
    if (section == PAIR_IJ)
        return read_pair(t, data);
    if (section < TERMS)
        return read_coeff(t, data->n_term_types[section - COEFFS],
                          data->coeff[section - COEFFS]);
    if (section == CROSSTERMS) /* which maps there are says another file */
        return read_term(t, data, MD_TERM_CMAP, MAP_TYPES_MAX);
    return read_term(t, data, section - TERMS,
                     data->n_term_types[section - TERMS]);
}

static int name_section(struct text *t)
{
    size_t used = 0;
    t->in.section[0] = '\0';
    for (int w = 0; w < t->in.n_words; w++) {
        int n = snprintf(t->in.section + used, sizeof t->in.section - used,
                         "%s%s", w > 0 ? " " : "", t->in.word[w]);
        if (n < 0 || (size_t)n >= sizeof t->in.section - used)
            break;
        used += (size_t)n;
    }
    for (int s = 0; s < SECTIONS; s++)
        if (strcmp(t->in.section, section_names[s]) == 0)
            return s;
    return -1;
}

static int read_section(struct text *t, struct md_data *data, int section)
{
    int there;
    for (int64_t row = 0; row < section_rows(data, section); row++) {
        TRY(next_line(t, &there));
        if (!there || is_section(t))
            return md_text_fail(&t->in, "only %" PRId64 " of %" PRId64 " lines",
                                row, section_rows(data, section));
        TRY(read_row(t, data, section, row));
    }
    if (section == ATOMS)
        md_data_sort_atoms(data);
    return 0;
}

static int reserve_pairs(struct text *t, struct md_data *data)
{
    size_t n = md_data_ij(data->n_types, 0);
    data->pair_ij = calloc(n, sizeof *data->pair_ij);
    return data->pair_ij ? 0
                         : FAIL(t->in.ctx, STATUS_MEMORY,
                                "no memory for %zu pairs of types", n);
}

/* A section whose name has been read. */
static int take_section(struct text *t, struct md_data *data, const char *style,
                        unsigned *done)
{
    int section = name_section(t);
    if (section < 0)
        return md_text_fail(&t->in,
                            "no section of this name is read (docs/coming.md "
                            "lists those that are)");
    if (*done >> section & 1)
        return md_text_fail(&t->in, "the section stands twice");
    if (section == ATOMS)
        TRY(md_data_set_style(t, style, data));
    if (section == VELOCITIES && !(*done >> ATOMS & 1))
        return md_text_fail(&t->in, "the section must follow Atoms");
    if (section == VELOCITIES)
        memset(t->seen, 0, (size_t)data->n_atoms / 8 + 1);
    if (section == PAIR_IJ)
        TRY(reserve_pairs(t, data));
    if (section >= PAIR_IJ && section < TERMS)
        md_data_hint(t, data->hint[section > PAIR ? section - PAIR : 0]);
    data->has_velocities |= section == VELOCITIES;
    *done |= 1u << section;
    return read_section(t, data, section);
}

static int parse(struct text *t, const char *style, struct md_data *data)
{
    int there;
    unsigned done = 0;
    TRY(md_text_line(&t->in, &there)); /* its title */
    if (!there)
        return FAIL(t->in.ctx, STATUS_INPUT, "'%s' is empty", t->in.path);
    TRY(next_line(t, &there));
    while (there && !is_section(t)) {
        TRY(read_header_line(t, data));
        TRY(next_line(t, &there));
    }
    TRY(check_header(t, data));
    while (there) {
        TRY(take_section(t, data, style, &done));
        TRY(next_line(t, &there));
        if (there && !is_section(t))
            return md_text_fail(&t->in, "more lines than the header promises");
    }
    t->in.section[0] = '\0';
    if (!(done >> ATOMS & 1))
        return md_text_fail(&t->in, "the file has no section Atoms");
    for (int k = 0; k <= MD_DATA_KINDS; k++) {
        int64_t n = section_rows(data, TERMS + k);
        if (n > 0 && !(done >> (TERMS + k) & 1))
            return md_text_fail(
                &t->in,
                "the header promises %" PRId64 " %s, but there is no "
                "section %s",
                n, k < MD_DATA_KINDS ? kind_plural[k] : "crossterms",
                section_names[TERMS + k]);
    }
    return 0;
}

int md_data_parse(struct ctx *ctx, const char *path, const char *style,
                  struct md_data *data)
{
    struct text t = {
        .in = {.ctx = ctx, .path = path, .file = fopen(path, "r")}};
    if (!t.in.file)
        return FAIL(ctx, STATUS_INPUT, "cannot open '%s': %s", path,
                    strerror(errno));
    int status = parse(&t, style, data);
    md_text_close(&t.in);
    free(t.seen);
    return status;
}
