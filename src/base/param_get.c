/* The typed values, once the deck has been checked. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param_value.h"

/* A key that is not declared, or with another type, is a mistake of the
 * program: kept for params_finish(), because a getter has no way to fail. */
static const struct param_value *get(const struct params *p,
                                     const char *section, int index,
                                     const char *key, enum param_type type)
{
    static const struct param_value nothing;
    const struct param_value *v = param_find(p, section, index, key);

    if (v != NULL && v->param->type == type)
        return v;
    if (p->misuse[0] == '\0')
        snprintf(p->misuse, PARAM_PATH_MAX, "%s.%s is asked for as %s", section,
                 key, v == NULL ? "a key, but not declared" : "another type");
    return &nothing;
}

int params_is_set_at(const struct params *p, const char *section, int index,
                     const char *key)
{
    const struct param_value *v = param_find(p, section, index, key);

    return v != NULL && v->is_set;
}

int params_is_set(const struct params *p, const char *section, const char *key)
{
    return params_is_set_at(p, section, 0, key);
}

int params_has_section(const struct params *p, const char *section)
{
    return params_count(p, section) > 0;
}

int params_count(const struct params *p, const char *section)
{
    const struct param_standing *s = param_standing(p, section);

    return s != NULL ? s->count : 0;
}

int params_bool(const struct params *p, const char *section, const char *key)
{
    return get(p, section, 0, key, PARAM_BOOL)->integer != 0;
}

int64_t params_int(const struct params *p, const char *section, const char *key)
{
    return params_int_at(p, section, 0, key);
}

double params_double(const struct params *p, const char *section,
                     const char *key)
{
    return params_double_at(p, section, 0, key);
}

const char *params_string(const struct params *p, const char *section,
                          const char *key)
{
    return params_string_at(p, section, 0, key);
}

struct interval params_interval(const struct params *p, const char *section,
                                const char *key)
{
    return params_interval_at(p, section, 0, key);
}

const int64_t *params_ints(const struct params *p, const char *section,
                           const char *key, size_t *n)
{
    const struct param_value *v = get(p, section, 0, key, PARAM_INTS);

    *n = v->n;
    return v->integers;
}

const double *params_doubles(const struct params *p, const char *section,
                             const char *key, size_t *n)
{
    return params_doubles_at(p, section, 0, key, n);
}

const char *const *params_strings(const struct params *p, const char *section,
                                  const char *key, size_t *n)
{
    return params_strings_at(p, section, 0, key, n);
}

const double *params_matrix(const struct params *p, const char *section,
                            const char *key, size_t *rows, size_t *columns)
{
    const struct param_value *v = get(p, section, 0, key, PARAM_MATRIX);

    *rows = v->n;
    *columns = v->columns;
    return v->numbers;
}

double params_double_at(const struct params *p, const char *section, int index,
                        const char *key)
{
    return get(p, section, index, key, PARAM_DOUBLE)->number;
}

const double *params_doubles_at(const struct params *p, const char *section,
                                int index, const char *key, size_t *n)
{
    const struct param_value *v = get(p, section, index, key, PARAM_DOUBLES);

    *n = v->n;
    return v->numbers;
}

struct interval params_interval_at(const struct params *p, const char *section,
                                   int index, const char *key)
{
    return get(p, section, index, key, PARAM_INTERVAL)->interval;
}

int64_t params_int_at(const struct params *p, const char *section, int index,
                      const char *key)
{
    return get(p, section, index, key, PARAM_INT)->integer;
}

const char *params_string_at(const struct params *p, const char *section,
                             int index, const char *key)
{
    return get(p, section, index, key, PARAM_STRING)->text;
}

/* Lists of texts and of pairs of texts are kept alike. */
const char *const *params_strings_at(const struct params *p,
                                     const char *section, int index,
                                     const char *key, size_t *n)
{
    const struct param *param = param_declared(p, section, key);
    enum param_type type = param != NULL && param->type == PARAM_STRING_PAIRS
                               ? PARAM_STRING_PAIRS
                               : PARAM_STRINGS;
    const struct param_value *v = get(p, section, index, key, type);

    *n = v->n;
    return (const char *const *)v->texts;
}

enum unit_system params_units(const struct params *p)
{
    return p->units;
}

const char *params_path(const struct params *p)
{
    return p->deck->path;
}

const char *params_folder(const struct params *p)
{
    return p->folder;
}

char *params_file(const struct params *p, const char *name)
{
    int plain = name[0] == '/' || strcmp(p->folder, ".") == 0;
    size_t size = strlen(name) + strlen(p->folder) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", plain ? "" : p->folder, plain ? "" : "/",
                 name);
    return path;
}

const char *params_text(const struct params *p, size_t *n)
{
    *n = p->deck->length;
    return p->deck->text;
}

/* ---- defaults that follow from other keys ---- */

void params_fill_double(struct params *p, const char *section, const char *key,
                        double value)
{
    struct param_value *v = param_find(p, section, 0, key);

    (void)get(p, section, 0, key, PARAM_DOUBLE);
    if (v == NULL || v->param->type != PARAM_DOUBLE || v->is_set)
        return;
    v->number = value;
    v->present = 1;
}

/* ---- errors that need several keys ---- */

static void add_error(struct params *p, const char *section, int index,
                      const char *key, const char *fmt, va_list args)
{
    const struct param_value *v =
        key != NULL ? param_find(p, section, index, key) : NULL;
    const struct param_standing *s = param_standing(p, section);
    struct deck_place where = {0, 0, 0};

    if (v != NULL && v->is_set)
        where = v->place;
    else if (s != NULL && index < s->count)
        where = s->place[index];
    deck_errors_vadd(p->errors, where, where.line > 0, fmt, args);
}

void params_error(struct params *p, const char *section, const char *key,
                  const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_error(p, section, 0, key, fmt, args);
    va_end(args);
}

int params_refuse(struct params *p, const char *section, const char *key,
                  const char *fmt, ...)
{
    struct param_value *v = param_find(p, section, 0, key);
    va_list args;

    if (v == NULL)
        return 0;
    v->left_out = 1;
    if (!v->is_set)
        return 0;
    va_start(args, fmt);
    add_error(p, section, 0, key, fmt, args);
    va_end(args);
    return 1;
}

void params_error_at(struct params *p, const char *section, int index,
                     const char *key, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_error(p, section, index, key, fmt, args);
    va_end(args);
}
