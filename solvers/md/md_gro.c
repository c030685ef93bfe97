/* md_gro.c: places, velocities and the box from a .gro file, for the atoms of a
 * topology.
 */
#include "md_gro.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/numeral.h"
#include "base/param.h"
#include "base/units.h"
#include "md_data.h"
#include "md_text.h"
#include "md_top.h"

enum { FIRST = 20, NAME = 10, NAME_WIDTH = 5 }; /* columns of a row */

struct gro {
    struct md_text in;
    int width; /* columns of a coordinate */
    const struct top_scale *scale;
};

int md_gro_is(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".gro") == 0;
}

static int next_line(struct gro *g, const char *what)
{
    int there;
    TRY(md_text_line(&g->in, &there));
    if (!there) {
        g->in.number++;
        return md_text_fail(&g->in, "the file ends here; %s is due", what);
    }
    while (g->in.length > 0 &&
           isspace((unsigned char)g->in.line[g->in.length - 1]))
        g->in.line[--g->in.length] = '\0';
    return 0;
}

/* ---- rows ---- */

/* The width of a coordinate is the distance of two decimal points. */
static int find_width(struct gro *g)
{
    const char *first =
        g->in.length > FIRST ? strchr(g->in.line + FIRST, '.') : NULL;
    const char *second = first ? strchr(first + 1, '.') : NULL;
    if (!second || second - first < 3 || second - first > 40)
        return md_text_fail(
            &g->in, "expected residue, atom and number in 20 columns, and "
                    "three coordinates behind them");
    g->width = (int)(second - first);
    return 0;
}

static int number_at(struct gro *g, int k, const char *what, double *value)
{
    char text[48];
    size_t start = FIRST + (size_t)k * (size_t)g->width;
    snprintf(text, sizeof text, "%.*s", g->width,
             start < g->in.length ? g->in.line + start : "");
    const char *word = text + strspn(text, " \t");
    size_t n = strcspn(word, " \t"), rest = n + strspn(word + n, " \t");
    const char *wrong = word[rest] != '\0' ? "is more than one number"
                                           : numeral_real(word, n, value);
    return wrong ? md_text_fail(&g->in, "%s %c: '%s' %s", what, "xyz"[k % 3],
                                word, wrong)
                 : 0;
}

static int read_row(struct gro *g, struct md_data *data, int64_t i,
                    const char *name, int64_t *others)
{
    struct md_particle *p = &data->atoms[i];
    char own[NAME_WIDTH + 1];
    TRY(next_line(g, "an atom"));
    if (g->width == 0)
        TRY(find_width(g));
    if (g->in.length < FIRST + 3)
        return md_text_fail(&g->in, "the line is too short for an atom");
    int fast = g->in.length > FIRST + 3 * (size_t)g->width;
    for (int d = 0; d < 3; d++) {
        TRY(number_at(g, d, "position", &p->position[d]));
        p->position[d] *= g->scale->length;
    }
    for (int d = 0; d < 3 && fast; d++) {
        TRY(number_at(g, 3 + d, "velocity", &p->velocity[d]));
        p->velocity[d] *= g->scale->length / g->scale->time;
    }
    data->has_velocities |= fast;
    memcpy(own, g->in.line + NAME, NAME_WIDTH);
    own[NAME_WIDTH] = '\0';
    const char *start = own + strspn(own, " ");
    size_t n = strcspn(start, " ");
    if (strlen(name) != n || strncmp(start, name, n) != 0) {
        if ((*others)++ == 0)
            log_warn(g->in.ctx->log,
                     "%s:%" PRId64 ": atom %" PRId64 " is called '%.*s', but "
                     "'%s' in the topology; are the molecules in one order?",
                     g->in.path, g->in.number, i + 1, (int)n, start, name);
    }
    return 0;
}

/* Three edges, or nine numbers: xx, yy, zz, xy, xz, yx, yz, zx, zy of which the
 * first letter names the edge and the second one the direction. */
static int read_box(struct gro *g, struct md_data *data)
{
    double edge[9] = {0};
    int n = 0;
    TRY(next_line(g, "the box"));
    const char *at = g->in.line + strspn(g->in.line, " \t"), *wrong;
    for (; n < 9 && *at != '\0'; n++) {
        size_t length = strcspn(at, " \t");
        if ((wrong = numeral_real(at, length, &edge[n])))
            return md_text_fail(&g->in, "the box: '%.*s' %s",
                                length < 40 ? (int)length : 40, at, wrong);
        at += length;
        at += strspn(at, " \t");
    }
    if ((n != 3 && n != 9) || *at != '\0')
        return md_text_fail(&g->in,
                            "expected the box, three numbers (or nine)");
    if (fabs(edge[3]) > 0 || fabs(edge[4]) > 0 || fabs(edge[6]) > 0)
        return md_text_fail(&g->in,
                            "the first edge has to lie along x, and the second "
                            "one in the plane of x and y");
    data->tilt[0] = edge[5] * g->scale->length;
    data->tilt[1] = edge[7] * g->scale->length;
    data->tilt[2] = edge[8] * g->scale->length;
    for (int d = 0; d < 3; d++) {
        if (!(edge[d] > 0))
            return md_text_fail(&g->in, "the box is %g long in %c", edge[d],
                                "xyz"[d]);
        data->lo[d] = 0;
        data->hi[d] = edge[d] * g->scale->length;
    }
    for (int64_t i = 0; i < data->n_atoms; i++)
        for (int d = 0; d < 3; d++)
            if (fabs(data->atoms[i].position[d]) > 1e9 * data->hi[d])
                return md_text_fail(
                    &g->in, "atom %" PRId64 " is more than 10^9 boxes away",
                    i + 1);
    return 0;
}

static int read_count(struct gro *g, int64_t expected)
{
    int64_t n;
    TRY(next_line(g, "a title"));
    TRY(next_line(g, "the number of atoms"));
    const char *word = g->in.line + strspn(g->in.line, " \t");
    if (numeral_whole(word, strlen(word), &n) || n < 1)
        return md_text_fail(&g->in, "expected the number of atoms, at least 1");
    if (n != expected)
        return md_text_fail(&g->in,
                            "%" PRId64
                            " atoms, but the molecules of the topology have "
                            "%" PRId64,
                            n, expected);
    return 0;
}

static int read_rows(struct gro *g, const struct top *top, struct md_data *data,
                     int64_t *others)
{
    int64_t i = 0;
    for (size_t k = 0; k < top->n_entries; k++) {
        const struct top_molecule *m =
            &top->molecules[top->entries[k].molecule];
        for (int64_t c = 0; c < top->entries[k].count; c++)
            for (size_t a = 0; a < m->n_atoms; a++)
                TRY(read_row(g, data, i++, m->atoms[a].name, others));
    }
    return 0;
}

static int read_gro(struct gro *g, struct top *top, struct md_data *data)
{
    int64_t others = 0;
    /* Before memory is asked for on the word of the topology. */
    TRY(read_count(g, md_top_atoms(top)));
    TRY(md_top_build(top, g->scale, data));
    TRY(read_rows(g, top, data, &others));
    if (others > 1)
        log_warn(g->in.ctx->log,
                 "%s: %" PRId64 " atoms have other names in the "
                 "topology",
                 g->in.path, others);
    TRY(read_box(g, data));
    for (int there = 1; there;) {
        TRY(md_text_line(&g->in, &there));
        if (there && g->in.line[strspn(g->in.line, " \t\r\n")] != '\0')
            return md_text_fail(
                &g->in, "text behind the box; a file with several frames "
                        "is not read");
    }
    return 0;
}

/* ---- the deck ---- */

static const char *const keys[] = {"topology", "include", "define"};

void md_gro_check(struct params *p)
{
    const char *read = params_is_set(p, "md.initial", "read")
                           ? params_string(p, "md.initial", "read")
                           : "";
    const int set[] = {params_is_set(p, "md.initial", "topology"),
                       params_is_set(p, "md.initial", "include"),
                       params_is_set(p, "md.initial", "define")};
    for (int k = 0; k < 3; k++)
        if (set[k] && !md_gro_is(read))
            params_error(p, "md.initial", keys[k],
                         "md.initial.%s goes with a .gro file, "
                         "md.initial.read = \"NAME.gro\"",
                         keys[k]);
    if (md_gro_is(read) && !set[0])
        params_error(p, "md.initial", "read",
                     "'%s' has places only: give its topology as "
                     "md.initial.topology = \"NAME.top\"",
                     read);
    if (md_gro_is(read) && params_units(p) == UNITS_LJ)
        params_error(p, "md.initial", "read",
                     "'%s' is in nm and kJ/mol, which lj units have no measure "
                     "for: run.units = \"real\", \"metal\" or \"si\"",
                     read);
}

/* What one unit of GROMACS is in the deck's. */
static int find_scale(struct ctx *ctx, const struct params *p,
                      struct top_scale *scale)
{
    enum unit_system units = params_units(p);
    char why[200];
    const struct {
        const char *text;
        struct dimension dim;
        double *to;
    } all[] = {{"1 nm", DIM_LENGTH, &scale->length},
               {"1 kJ/mol", DIM_ENERGY, &scale->energy},
               {"1 ps", DIM_TIME, &scale->time},
               {"1 g/mol", DIM_MASS, &scale->mass},
               {"1 e", DIM_CHARGE, &scale->charge}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (unit_parse_quantity(all[k].text, units, all[k].dim, all[k].to, why,
                                sizeof why) != 0)
            return FAIL(ctx, STATUS_INTERNAL, "%s: %s", all[k].text, why);
    return 0;
}

static int parse_top(struct ctx *ctx, const struct params *p, struct top *top,
                     char **folders, size_t n_folders)
{
    size_t n = 0;
    const char *const *definitions = NULL;
    if (params_is_set(p, "md.initial", "define"))
        definitions = params_strings(p, "md.initial", "define", &n);
    char *path = params_file(p, params_string(p, "md.initial", "topology"));
    int status = path ? md_top_parse(ctx, path, (const char *const *)folders,
                                     n_folders, definitions, n, top)
                      : FAIL(ctx, STATUS_MEMORY, "no memory for a path");
    free(path);
    return status;
}

int md_gro_parse(struct ctx *ctx, const struct params *p, struct md_data *data)
{
    struct top_scale scale;
    struct top top = {0};
    struct gro g = {.in = {.ctx = ctx, .path = data->path}, .scale = &scale};
    size_t n = 0;
    const char *const *names = NULL;
    int status;
    TRY(find_scale(ctx, p, &scale));
    if (params_is_set(p, "md.initial", "include"))
        names = params_strings(p, "md.initial", "include", &n);
    char **folders = calloc(n + 1, sizeof *folders);
    for (size_t k = 0; folders && k < n; k++)
        folders[k] = params_file(p, names[k]);
    status = folders && (n == 0 || folders[n - 1])
                 ? 0
                 : FAIL(ctx, STATUS_MEMORY, "no memory for paths");
    if (status == 0)
        status = parse_top(ctx, p, &top, folders, n);
    if (status == 0 && !(g.in.file = fopen(g.in.path, "r")))
        status = FAIL(ctx, STATUS_INPUT, "cannot open '%s': %s", g.in.path,
                      strerror(errno));
    if (status == 0)
        status = read_gro(&g, &top, data);
    md_text_close(&g.in);
    for (size_t k = 0; folders && k < n; k++)
        free(folders[k]);
    free(folders);
    md_top_free(&top);
    return status;
}
