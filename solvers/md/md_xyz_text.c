/* md_xyz_text.c: see md_xyz_text.h. */
#include "md_xyz_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/numeral.h"
#include "md.h"

enum { SHOWN = 40 }; /* bytes of a bad word shown in a message */

int xyz_fail(struct xyz_text *x, const char *at, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    text_hide_control(text);
    const char *open = md_text_open_words(&x->in);
    long column = at ? (long)(at - x->in.line) + 1 : 1;
    return FAIL_AT(x->in.ctx, STATUS_INPUT, "%s:%" PRId64 ":%ld: error: %s%s",
                   x->in.path, x->in.number, column, text, open);
}

/* Read a line into x->in.line, without its end. */
static int next_line(struct xyz_text *x)
{
    int there;
    TRY(md_text_line(&x->in, &there));
    if (!there)
        return FAIL_AT(x->in.ctx, STATUS_INPUT,
                       "%s:%" PRId64 ":1: error: the file ends here%s",
                       x->in.path, x->in.number + 1,
                       md_text_open_words(&x->in));
    char *end = x->in.line + x->in.length;
    while (end > x->in.line && (end[-1] == '\n' || end[-1] == '\r'))
        *--end = '\0';
    return 0;
}

/* ---- words and numbers ---- */

/* The next word at or after *at (cut off by blanks), or NULL at the line's end.
 * *at moves behind it. */
static const char *next_word(const char **at, size_t *length)
{
    const char *word = *at + strspn(*at, " \t");
    *length = strcspn(word, " \t");
    *at = word + *length;
    return *length > 0 ? word : NULL;
}

/* For "%.*s": the length of a word, cut for a message. */
static int shown(size_t length)
{
    return length < SHOWN ? (int)length : SHOWN;
}

/* ---- the header ---- */

static int read_count(struct xyz_text *x)
{
    TRY(next_line(x));
    const char *at = x->in.line;
    size_t length;
    const char *word = next_word(&at, &length);
    if (!word || numeral_whole(word, length, &x->n_particles) ||
        x->n_particles < 1)
        return xyz_fail(x, word,
                        "expected the number of particles, a whole number of "
                        "at least 1");
    if ((word = next_word(&at, &length)))
        return xyz_fail(x, word,
                        "unexpected '%.*s' after the number of "
                        "particles",
                        shown(length), word);
    return 0;
}

static void set_columns(struct xyz_text *x, int n, int n_required,
                        const enum xyz_column *columns)
{
    x->n_columns = n;
    x->n_required = n_required;
    for (int i = 0; i < n; i++)
        x->columns[i] = columns[i];
}

static const enum xyz_column plain[] = {XYZ_SPECIES, XYZ_X, XYZ_Y, XYZ_Z};
static const enum xyz_column numbered[] = {XYZ_ID, XYZ_X, XYZ_Y, XYZ_Z,
                                           XYZ_SPECIES};

static int set_box(struct xyz_text *x, const char *at, const double *edges)
{
    for (int d = 0; d < 3; d++) {
        if (!(edges[d] > 0))
            return xyz_fail(x, at, "the box is %g long in %c", edges[d],
                            "xyz"[d]);
        x->box[d] = edges[d];
    }
    x->has_box = 1;
    return 0;
}

/* A second line of three or four numbers and nothing else is a box. */
static int read_plain_header(struct xyz_text *x)
{
    double number[4];
    int n = 0;
    size_t length;
    const char *at = x->in.line, *word;
    set_columns(x, 4, 4, plain);
    while ((word = next_word(&at, &length)))
        if (n == 4 || numeral_real(word, length, &number[n++]))
            return 0; /* a comment */
    if (n == 3)
        return set_box(x, x->in.line, number);
    if (n != 4)
        return 0;
    set_columns(x, 5, 4, numbered);
    x->has_ids = 1;
    return set_box(x, x->in.line, number + 1);
}

/* One entry name:type:count of Properties, at `at`; the kind of its first
 * column, or XYZ_IGNORED. */
static int property(struct xyz_text *x, const char *name, size_t length,
                    char type, int64_t count, const char *at)
{
    static const struct {
        const char *name;
        char type;
        int count;
        enum xyz_column first;
    } known[] = {{"species", 'S', 1, XYZ_SPECIES},
                 {"id", 'I', 1, XYZ_ID},
                 {"pos", 'R', 3, XYZ_X},
                 {"velo", 'R', 3, XYZ_VX},
                 {"vel", 'R', 3, XYZ_VX},
                 {"velocities", 'R', 3, XYZ_VX},
                 {"velocity", 'R', 3, XYZ_VX},
                 {"charge", 'R', 1, XYZ_CHARGE},
                 {"charges", 'R', 1, XYZ_CHARGE},
                 {"initial_charges", 'R', 1, XYZ_CHARGE},
                 {"q", 'R', 1, XYZ_CHARGE},
                 {"mass", 'R', 1, XYZ_MASS},
                 {"masses", 'R', 1, XYZ_MASS},
                 {"type", 'I', 1, XYZ_TYPE}};
    enum xyz_column first = XYZ_IGNORED;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != length ||
            strncasecmp(known[i].name, name, length) != 0)
            continue;
        if (type != known[i].type || count != known[i].count)
            return xyz_fail(x, at, "property '%s' must be %s:%c:%d",
                            known[i].name, known[i].name, known[i].type,
                            known[i].count);
        first = known[i].first;
    }
    if (count < 1 || count > XYZ_COLUMNS_MAX - x->n_columns)
        return xyz_fail(x, at, "more than %d columns", XYZ_COLUMNS_MAX);
    for (int i = 0; i < (int)count; i++)
        x->columns[x->n_columns++] =
            first == XYZ_IGNORED ? first : (enum xyz_column)((int)first + i);
    x->n_required = x->n_columns;
    x->has_ids |= first == XYZ_ID;
    x->has_charges |= first == XYZ_CHARGE;
    return 0;
}

/* species:S:1:pos:R:3:... from `at`, `length` bytes. */
static int read_properties(struct xyz_text *x, const char *at, size_t length)
{
    const char *end = at + length, *start = at;
    x->n_columns = 0;
    while (at < end) {
        size_t name = strcspn(at, ":");
        const char *type = at + name + 1, *count = type + 2;
        int64_t n = 0;
        size_t digits = 0;
        if (count < end && type[1] == ':')
            digits = strspn(count, "0123456789");
        if (digits == 0 || digits > 6 || count + digits > end ||
            (count + digits < end && count[digits] != ':'))
            return xyz_fail(x, at, "Properties: expected name:type:count");
        for (size_t i = 0; i < digits; i++)
            n = 10 * n + (count[i] - '0');
        TRY(property(x, at, name, type[0], n, at));
        at = count + digits + 1;
    }
    int seen[XYZ_KINDS] = {0};
    for (int i = 0; i < x->n_columns; i++)
        if (x->columns[i] != XYZ_IGNORED && seen[x->columns[i]]++)
            return xyz_fail(x, start, "Properties: a property stands twice");
    if ((!seen[XYZ_SPECIES] && !seen[XYZ_TYPE]) || !seen[XYZ_X])
        return xyz_fail(x, start,
                        "Properties: species:S:1 (or type:I:1) and pos:R:3 are "
                        "required");
    for (int i = 0; i < x->n_columns; i++) /* names go before numbers */
        if (x->columns[i] == XYZ_TYPE && seen[XYZ_SPECIES])
            x->columns[i] = XYZ_IGNORED;
    return 0;
}

/* Nine numbers: the edges of the box as rows. */
static int read_lattice(struct xyz_text *x, const char *at, size_t length)
{
    double cell[9];
    const char *start = at, *end = at + length;
    for (int i = 0; i < 9; i++) {
        size_t n;
        const char *word = next_word(&at, &n), *wrong;
        if (!word || word >= end)
            return xyz_fail(x, at, "Lattice: expected nine numbers");
        if (at > end)
            n -= (size_t)(at - end);
        if ((wrong = numeral_real(word, n, &cell[i])))
            return xyz_fail(x, word, "Lattice: '%.*s' %s", shown(n), word,
                            wrong);
        at = word + n;
    }
    if (at + strspn(at, " \t") < end)
        return xyz_fail(x, at, "Lattice: more than nine numbers");
    if (fabs(cell[1]) > 0 || fabs(cell[2]) > 0 || fabs(cell[5]) > 0)
        return xyz_fail(x, start,
                        "Lattice: the first edge has to lie along x and the "
                        "second one in the plane of x and y, \"ax 0 0 bx by 0 "
                        "cx cy cz\"; turn the box and the particles");
    double edges[3] = {cell[0], cell[4], cell[8]};
    x->tilt[0] = cell[3];
    x->tilt[1] = cell[6];
    x->tilt[2] = cell[7];
    return set_box(x, start, edges);
}

static int check_pbc(struct xyz_text *x, const char *at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (at[i] == 'F' || at[i] == 'f' || at[i] == '0')
            return xyz_fail(x, at + i,
                            "pbc: only fully periodic boxes are supported");
    return 0;
}

/* One key=value of the second line. */
static int read_key(struct xyz_text *x, const char *key, size_t key_length,
                    const char *value, size_t length)
{
    if (key_length == 7 && strncasecmp(key, "Lattice", 7) == 0)
        return read_lattice(x, value, length);
    if (key_length == 10 && strncasecmp(key, "Properties", 10) == 0)
        return read_properties(x, value, length);
    if (key_length == 3 && strncasecmp(key, "pbc", 3) == 0)
        return check_pbc(x, value, length);
    return 0; /* energies and the like */
}

static int read_extended_header(struct xyz_text *x)
{
    const char *at = x->in.line;
    set_columns(x, 4, 4, plain);
    for (;;) {
        at += strspn(at, " \t");
        if (*at == '\0')
            return 0;
        const char *key = at;
        size_t key_length = strcspn(at, "= \t");
        at += key_length;
        if (*at != '=')
            continue; /* a flag without value */
        at++;
        char quote = *at == '"' || *at == '\'' ? *at : '\0';
        const char stop[2] = {quote, '\0'};
        at += quote != '\0';
        size_t length = strcspn(at, quote ? stop : " \t");
        if (quote && at[length] != quote)
            return xyz_fail(x, at - 1, "a quote that is not closed");
        TRY(read_key(x, key, key_length, at, length));
        at += length + (quote != '\0');
    }
}

int xyz_open(struct ctx *ctx, const struct md *md, const char *path,
             struct xyz_text *x)
{
    *x = (struct xyz_text){.in = {.ctx = ctx, .path = path}, .md = md};
    x->in.file = fopen(path, "r");
    if (!x->in.file)
        return FAIL(ctx, STATUS_INPUT, "cannot open '%s': %s", path,
                    strerror(errno));
    TRY(read_count(x));
    TRY(next_line(x));
    if (strchr(x->in.line, '='))
        return read_extended_header(x);
    return read_plain_header(x);
}

void xyz_close(struct xyz_text *x)
{
    md_text_close(&x->in);
}

/* ---- rows ---- */

static int read_species(struct xyz_text *x, const char *word, size_t length,
                        struct md_particle *p)
{
    char name[MD_NAME_MAX], list[256];
    snprintf(name, sizeof name, "%.*s", shown(length), word);
    p->species = length < sizeof name ? md_find_species(x->md, name) : -1;
    if (p->species < 0)
        return xyz_fail(
            x, word, "unknown species '%.*s'; [[md.species]] declares: %s",
            shown(length), word, md_species_list(x->md, list, sizeof list));
    return 0;
}

static int read_type(struct xyz_text *x, const char *word, size_t length,
                     struct md_particle *p)
{
    int64_t type;
    if (numeral_whole(word, length, &type) || type < 1 ||
        type > x->md->n_species)
        return xyz_fail(x, word,
                        "type '%.*s': expected a whole number from 1 to the "
                        "number of species, %d",
                        shown(length), word, x->md->n_species);
    p->species = (int32_t)type - 1;
    return 0;
}

/* A file may round; the mass that counts is the deck's. */
static int check_mass(struct xyz_text *x, const struct md_particle *p,
                      double mass)
{
    const struct md_species *s = &x->md->species[p->species];
    if (fabs(mass - s->mass) > 1e-3 * s->mass)
        return xyz_fail(x, NULL, "the mass %g is not that of species '%s', %g",
                        mass, s->name, s->mass);
    return 0;
}

static int read_column(struct xyz_text *x, enum xyz_column kind,
                       const char *word, size_t length, struct md_particle *p)
{
    const char *wrong;
    double value;
    switch (kind) {
    case XYZ_IGNORED:
        return 0;
    case XYZ_SPECIES:
        return read_species(x, word, length, p);
    case XYZ_TYPE:
        return read_type(x, word, length, p);
    case XYZ_ID:
        if (numeral_whole(word, length, &p->id) || p->id < 1 ||
            p->id > x->n_particles)
            return xyz_fail(x, word,
                            "id '%.*s': expected a whole number from 1 to the "
                            "number of particles, %" PRId64,
                            shown(length), word, x->n_particles);
        return 0;
    default:
        if ((wrong = numeral_real(word, length, &value)))
            return xyz_fail(x, word, "'%.*s' %s", shown(length), word, wrong);
        if (kind == XYZ_CHARGE)
            p->charge = value;
        else if (kind == XYZ_MASS)
            x->mass = value;
        else if (kind >= XYZ_VX)
            p->velocity[kind - XYZ_VX] = value;
        else
            p->position[kind - XYZ_X] = value;
        return 0;
    }
}

int xyz_row(struct xyz_text *x, struct md_particle *p)
{
    size_t length;
    const char *word;
    TRY_WHILE(x->in.ctx, next_line(x),
              "because: row %" PRId64 " of %" PRId64 " particles was expected",
              x->n_rows + 1, x->n_particles);
    const char *at = x->in.line;
    *p = (struct md_particle){.id = ++x->n_rows};
    x->mass = 0;
    for (int i = 0; i < x->n_columns; i++) {
        word = next_word(&at, &length);
        if (!word && i >= x->n_required)
            return 0;
        if (!word)
            return xyz_fail(x, at, "expected %d columns, found %d",
                            x->n_required, i);
        TRY(read_column(x, x->columns[i], word, length, p));
    }
    if ((word = next_word(&at, &length)))
        return xyz_fail(x, word, "unexpected '%.*s' after %d columns",
                        shown(length), word, x->n_columns);
    return x->mass > 0 ? check_mass(x, p, x->mass) : 0;
}

int xyz_end(struct xyz_text *x)
{
    int there;
    for (;;) {
        TRY(md_text_line(&x->in, &there));
        if (!there)
            return 0;
        const char *text = x->in.line + strspn(x->in.line, " \t\r\n");
        if (*text != '\0')
            return xyz_fail(x, text,
                            "text after the %" PRId64 " particles that the "
                            "first line promises; a file with several frames "
                            "is not supported",
                            x->n_particles);
    }
}
