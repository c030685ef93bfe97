/* What a deck asks for in parts of the grid: whether it makes sense, and how
 * much it will be. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/param.h"
#include "driver/job.h"
#include "driver/parts.h"

static const char *const sections[] = {"output.slice", "output.box",
                                       "output.probe"};
enum { SECTIONS = 3, NAMES_SIZE = 512, NAME_LONGEST = 64 };

static int field_at(const struct job *job, int i, const char **name)
{
    const struct solver *s = job->solver;
    if (s->grid_field != NULL)
        return s->grid_field(job->state, i, name);
    *name = s->field_names != NULL ? s->field_names[i] : NULL;
    return *name != NULL;
}

/* Numbers a cell has of the field; 0: there is no such field. */
static int components_of(const struct job *job, const char *field)
{
    const char *name;
    int n;
    for (int i = 0; (n = field_at(job, i, &name)) > 0; i++)
        if (strcmp(name, field) == 0)
            return n;
    return 0;
}

/* ---- errors ---- */

static void check_fields(const struct job *job, const char *section, int index)
{
    char list[NAMES_SIZE] = "";
    const char *name;
    size_t n, used = 0;
    if (!params_is_set_at(job->params, section, index, "fields"))
        return;
    const char *const *fields =
        params_strings_at(job->params, section, index, "fields", &n);
    for (int i = 0; field_at(job, i, &name) > 0 && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                 i > 0 ? ", " : "", name);
    for (size_t i = 0; i < n; i++) {
        if (components_of(job, fields[i]) == 0)
            params_error_at(job->params, section, index, "fields",
                            "no field '%s'; there are %s", fields[i], list);
        for (size_t k = 0; k < i; k++)
            if (strcmp(fields[i], fields[k]) == 0)
                params_error_at(job->params, section, index, "fields",
                                "the field '%s' stands twice", fields[i]);
    }
}

/* Names become parts of file names and paths; a number alone would look like a
 * frame's. */
static int is_good_name(const char *name)
{
    size_t n = strlen(name);
    int digits = 1;
    for (const char *c = name; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            return 0;
        digits &= isdigit((unsigned char)*c) != 0;
    }
    return n > 0 && n <= NAME_LONGEST && !digits;
}

/* Whether an earlier section has the name. Slices and boxes share theirs. */
static int is_taken(const struct params *p, int s, int index, const char *name)
{
    for (int t = s == 2 ? 2 : 0; t <= s; t++)
        for (int i = 0; i < params_count(p, sections[t]); i++)
            if ((t < s || i < index) &&
                strcmp(params_string_at(p, sections[t], i, "name"), name) == 0)
                return 1;
    return 0;
}

static void check_name(const struct job *job, int s, int index)
{
    struct params *p = job->params;
    const char *name = params_string_at(p, sections[s], index, "name");
    if (!is_good_name(name))
        params_error_at(p, sections[s], index, "name",
                        "%s.name = \"%s\" must be of letters, digits, '-' and "
                        "'_', not of digits alone, and at most %d long",
                        sections[s], name, NAME_LONGEST);
    else if (is_taken(p, s, index, name))
        params_error_at(p, sections[s], index, "name",
                        "the name \"%s\" is taken already", name);
}

static void check_inside(const struct job *job, const char *section, int index,
                         const char *key, int d, double x)
{
    double length = job->plan.box[d];
    if (length > 0 && !(x >= 0 && x <= length))
        params_error_at(job->params, section, index, key,
                        "%s.%s: %g lies outside the box, which reaches from 0 "
                        "to %g in %c",
                        section, key, x, length, "xyz"[d]);
}

static void check_place(const struct job *job, int s, int index)
{
    const struct params *p = job->params;
    const char *section = sections[s];
    size_t n;
    if (s == 0) {
        int d = params_string_at(p, section, index, "normal")[0] - 'x';
        check_inside(job, section, index, "position", d,
                     params_double_at(p, section, index, "position"));
        return;
    }
    const char *key = s == 1 ? "lower" : "position";
    const double *low = params_doubles_at(p, section, index, key, &n);
    for (int d = 0; d < 3; d++)
        check_inside(job, section, index, key, d, low[d]);
    if (s != 1)
        return;
    const double *high = params_doubles_at(p, section, index, "upper", &n);
    for (int d = 0; d < 3; d++) {
        check_inside(job, section, index, "upper", d, high[d]);
        if (!(low[d] <= high[d]))
            params_error_at(job->params, section, index, "upper",
                            "%s.upper lies below %s.lower in %c", section,
                            section, "xyz"[d]);
    }
}

int parts_check(struct ctx *ctx, const struct job *job)
{
    struct params *p = job->params;
    for (int s = 0; s < SECTIONS; s++)
        for (int i = 0; i < params_count(p, sections[s]); i++) {
            if (job->solver->grid_frame == NULL) {
                params_error_at(p, sections[s], i, NULL,
                                "[[%s]] is for fields on a grid, and %s has "
                                "none",
                                sections[s], job->solver->title);
                continue;
            }
            check_name(job, s, i);
            check_place(job, s, i);
            check_fields(job, sections[s], i);
        }
    return params_finish(ctx, p);
}

/* ---- how much ---- */

/* Bytes of a cell in the fields of a section. */
static double cell_bytes(const struct job *job, const char *section, int index,
                         double item)
{
    const struct params *p = job->params;
    int own = section != NULL && params_is_set_at(p, section, index, "fields");
    size_t n;
    const char *const *fields =
        own ? params_strings_at(p, section, index, "fields", &n)
            : params_strings(p, "output", "fields", &n);
    double bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += item * components_of(job, fields[i]);
    return bytes;
}

/* Cells of a slice or a box. */
static double cells_of(const struct job *job, int s, int index)
{
    const struct params *p = job->params;
    const struct estimate *e = &job->plan;
    double cells = 1;
    size_t n;
    if (s == 0) {
        int normal = params_string_at(p, sections[s], index, "normal")[0] - 'x';
        for (int d = 0; d < 3; d++)
            if (d != normal)
                cells *= (double)e->cells[d];
        return cells;
    }
    const double *low = params_doubles_at(p, sections[s], index, "lower", &n);
    const double *high = params_doubles_at(p, sections[s], index, "upper", &n);
    for (int d = 0; d < 3; d++) {
        double part = e->box[d] > 0 ? (high[d] - low[d]) / e->box[d] : 1;
        double cut = part * (double)e->cells[d];
        cells *= cut > 1 ? cut : 1;
    }
    return cells;
}

void parts_plan(const struct job *job, double *frame, double *rest,
                int64_t *others)
{
    const struct params *p = job->params;
    const struct estimate *e = &job->plan;
    double dt = job->solver->timestep(job->state);
    const char *precision = params_string(p, "output", "frame_precision");
    double item = strcmp(precision, "single") == 0 ? 4 : 8;
    *frame = *rest = 0;
    *others = 0;
    if (job->solver->grid_frame == NULL)
        return;
    *frame = cell_bytes(job, NULL, 0, item) * (double)e->cells[0] *
                 (double)e->cells[1] * (double)e->cells[2] +
             VTKHDF_OVERHEAD;
    for (int s = 0; s < SECTIONS; s++)
        for (int i = 0; i < params_count(p, sections[s]); i++) {
            struct interval every =
                params_interval_at(p, sections[s], i, "every");
            int64_t n = clock_count(&every, e->steps, dt, e->end_time);
            if (s == 2) {
                *rest += (double)n * (16 + cell_bytes(job, sections[s], i, 8));
                continue;
            }
            *rest += (double)n * (cell_bytes(job, sections[s], i, item) *
                                      cells_of(job, s, i) +
                                  VTKHDF_OVERHEAD);
            *others += n;
        }
}
