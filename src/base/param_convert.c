/* From the deck's nodes to typed values, and what is wrong with them. */
#include "base/param_value.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numeral.h"

enum { PRINT_MAX = 48, WHY_MAX = 256 };

const char *param_format_double(double number, char *buf, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, size, "%.*g", digits, number);
        if (strtod(buf, NULL) == number)
            break;
    }
    if (strpbrk(buf, ".einf") == NULL) {
        size_t n = strlen(buf);
        snprintf(buf + n, size - n, ".0");
    }
    return buf;
}

int param_has_default(const struct param *param)
{
    return param->fallback != NULL &&
           !(param->flags & (PARAM_REQUIRED | PARAM_OPTIONAL));
}

/* ---- messages ---- */

static const char *print_node(const struct deck_node *node, char *buf)
{
    char number[32];

    switch (node->kind) {
    case DECK_BOOL:
        snprintf(buf, PRINT_MAX, " = %s", node->integer ? "true" : "false");
        break;
    case DECK_INT:
        snprintf(buf, PRINT_MAX, " = %" PRId64, node->integer);
        break;
    case DECK_DOUBLE:
        snprintf(buf, PRINT_MAX, " = %s",
                 param_format_double(node->number, number, sizeof number));
        break;
    case DECK_STRING:
        snprintf(buf, PRINT_MAX, " = \"%.32s%s\"", node->text,
                 node->length > 32 ? "..." : "");
        break;
    default:
        buf[0] = '\0';
    }
    return buf;
}

static void complain(struct params *p, const struct param *param,
                     const struct deck_node *node, const char *what)
{
    char value[PRINT_MAX];

    deck_errors_add(p->errors, node->place, 1, "%s.%s%s: %s", param->section,
                    param->key, print_node(node, value), what);
}

static void complain_type(struct params *p, const struct param *param,
                          const struct deck_node *node, const char *expected)
{
    char what[WHY_MAX];

    snprintf(what, sizeof what, "expected %s, got %s", expected,
             deck_kind_name(node));
    complain(p, param, node, what);
}

/* 0 where the number is within the declared range. */
static int check_range(struct params *p, const struct param *param,
                       const struct deck_node *node, double number)
{
    int f = param->flags;
    int low =
        (f & PARAM_HAS_MIN) &&
        ((f & PARAM_MIN_OPEN) ? number <= param->min : number < param->min);
    int high =
        (f & PARAM_HAS_MAX) &&
        ((f & PARAM_MAX_OPEN) ? number >= param->max : number > param->max);
    char what[WHY_MAX];

    if (!low && !high)
        return 0;
    if (low)
        snprintf(what, sizeof what, "must be %s %g",
                 (f & PARAM_MIN_OPEN) ? "greater than" : "at least",
                 param->min);
    else
        snprintf(what, sizeof what, "must be %s %g",
                 (f & PARAM_MAX_OPEN) ? "less than" : "at most", param->max);
    complain(p, param, node, what);
    return -1;
}

/* ---- one value ---- */

static int convert_int(struct params *p, const struct param *param,
                       const struct deck_node *node, int64_t *out)
{
    const double exact = 9007199254740992.0; /* 2^53 */

    if (node->kind == DECK_INT) {
        *out = node->integer;
    } else if (node->kind == DECK_DOUBLE && fabs(node->number) <= exact &&
               floor(node->number) == node->number) {
        *out = (int64_t)node->number;
    } else if (node->kind == DECK_DOUBLE) {
        complain(p, param, node,
                 fabs(node->number) > exact
                     ? "too large; whole numbers, of all their digits, go up "
                       "to 9223372036854775807"
                     : "expected a whole number");
        return -1;
    } else {
        complain_type(p, param, node, "an integer");
        return -1;
    }
    return check_range(p, param, node, (double)*out);
}

static int convert_double(struct params *p, const struct param *param,
                          const struct deck_node *node, double *out)
{
    char why[WHY_MAX];

    if (node->kind == DECK_INT) {
        *out = (double)node->integer;
    } else if (node->kind == DECK_DOUBLE) {
        *out = node->number;
    } else if (node->kind == DECK_STRING) {
        if (unit_parse_quantity(node->text, p->units, param->dim, out, why,
                                sizeof why) != 0) {
            complain(p, param, node, why);
            return -1;
        }
    } else {
        complain_type(p, param, node, "a number");
        return -1;
    }
    if (!isfinite(*out)) {
        complain(p, param, node, "must be a finite number");
        return -1;
    }
    if (fabs(*out) > NUMERAL_MOST) {
        complain(p, param, node, "must be within -1e150 and 1e150");
        return -1;
    }
    return check_range(p, param, node, *out);
}

static char *copy_text(struct params *p, const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        p->no_memory = 1;
    return copy;
}

static int check_choice(struct params *p, const struct param *param,
                        const struct deck_node *node, const char *word)
{
    char list[256], near[64], what[512], name[PARAM_PATH_MAX];
    const char *meant;
    size_t n;

    if (param->choices == NULL || param_is_choice(param->choices, word, 0))
        return 0;
    snprintf(name, sizeof name, "%s.%s", param->section, param->key);
    meant = param_meant(p, name, word);
    param_list_choices(param->choices, list, sizeof list);
    if (param_is_choice(param->choices, word, 1))
        snprintf(what, sizeof what,
                 "known, but not in this version, which has %s", list);
    else if (param_choice(param->choices, 1, 0, &n) == NULL)
        snprintf(what, sizeof what, "expected %s", list);
    else if (meant != NULL)
        snprintf(what, sizeof what, "expected one of %s; here that is %s", list,
                 meant);
    else if (param_near_choice(param->choices, word, near, sizeof near) != NULL)
        snprintf(what, sizeof what, "expected one of %s; did you mean \"%s\"?",
                 list, near);
    else
        snprintf(what, sizeof what, "expected one of %s", list);
    complain(p, param, node, what);
    return -1;
}

static char *convert_string(struct params *p, const struct param *param,
                            const struct deck_node *node)
{
    const char *text = node->text;
    char digits[32];

    /* a bare word, number or date of the command line needs no quotes */
    if (node->place.override > 0 && node->kind < DECK_ARRAY)
        text = node->kind == DECK_STRING
                   ? node->text
                   : strchr(p->overrides[node->place.override - 1], '=') + 1;
    else if (node->kind == DECK_INT && (param->flags & PARAM_DIGITS)) {
        snprintf(digits, sizeof digits, "%" PRId64, node->integer);
        text = digits;
    } else if (node->kind != DECK_STRING) {
        complain_type(p, param, node, "a text in quotes");
        return NULL;
    }
    if (node->kind == DECK_STRING && strlen(text) != node->length) {
        complain(p, param, node, "a text must not hold the character NUL");
        return NULL;
    }
    if (check_choice(p, param, node, text) != 0)
        return NULL;
    return copy_text(p, text);
}

/* Days of many hours are fine: "120:00:00". */
int param_parse_wall(const char *text, double *seconds, char *why, size_t size)
{
    unsigned long hours;
    unsigned minutes, second;
    char end;

    if (isdigit((unsigned char)text[0]) && strlen(text) < 16 &&
        sscanf(text, "%lu:%2u:%2u%c", &hours, &minutes, &second, &end) == 3 &&
        minutes < 60 && second < 60) {
        *seconds = (double)hours * 3600.0 + minutes * 60.0 + second;
        return 0;
    }
    if (strchr(text, ':') == NULL)
        return unit_parse_quantity(text, UNITS_SI, DIM_TIME, seconds, why,
                                   size);
    snprintf(why, size,
             "expected a wall time such as \"30 min\", \"2 h\" or "
             "\"3:55:00\"");
    return -1;
}

static int interval_time(struct params *p, const struct param *param,
                         const struct deck_node *node, struct interval *out)
{
    char why[WHY_MAX];
    int failed = 0;

    if (node->kind == DECK_DOUBLE && !(param->flags & PARAM_WALL))
        out->time = node->number;
    else if (node->kind == DECK_STRING && (param->flags & PARAM_WALL))
        failed = param_parse_wall(node->text, &out->time, why, sizeof why);
    else if (node->kind == DECK_STRING)
        failed = unit_parse_quantity(node->text, p->units, DIM_TIME, &out->time,
                                     why, sizeof why);
    else {
        complain_type(p, param, node,
                      (param->flags & PARAM_WALL)
                          ? "a whole number of steps, or a wall time in quotes "
                            "such as \"30 min\""
                          : "a whole number of steps, or a time");
        return -1;
    }
    if (failed) {
        complain(p, param, node, why);
        return -1;
    }
    if (!isfinite(out->time) || out->time <= 0.0) {
        complain(p, param, node, "must be a finite time greater than 0");
        return -1;
    }
    out->kind = INTERVAL_TIME;
    return 0;
}

static int convert_interval(struct params *p, const struct param *param,
                            const struct deck_node *node, struct interval *out)
{
    *out = (struct interval){0};
    if (node->kind != DECK_INT)
        return interval_time(p, param, node, out);
    if (node->integer < 0) {
        complain(p, param, node, "must be at least 0 (0: never)");
        return -1;
    }
    if (check_range(p, param, node, (double)node->integer) != 0)
        return -1;
    out->kind = node->integer == 0 ? INTERVAL_NEVER : INTERVAL_STEPS;
    out->steps = node->integer;
    return 0;
}

/* ---- arrays ---- */

static const char *element_name(const struct param *param)
{
    switch (param->type) {
    case PARAM_INTS:
        return "integers";
    case PARAM_DOUBLES:
        return "numbers";
    case PARAM_STRINGS:
        return "texts";
    case PARAM_MATRIX:
        return "rows of numbers";
    default:
        return "pairs of texts";
    }
}

static int convert_pair(struct params *p, const struct param *param,
                        const struct deck_node *node, char **texts)
{
    if (node->kind != DECK_ARRAY || node->first == NULL ||
        node->first->next == NULL || node->first->next != node->last) {
        complain(p, param, node,
                 "each entry is a pair of texts, such as "
                 "[\"A\", \"B\"]");
        return -1;
    }
    texts[0] = convert_string(p, param, node->first);
    texts[1] = convert_string(p, param, node->last);
    return texts[0] != NULL && texts[1] != NULL ? 0 : -1;
}

/* Row i of a matrix. The first one says how many columns there are. */
static int convert_row(struct params *p, struct param_value *v,
                       const struct deck_node *node, size_t i)
{
    size_t n = 0;
    int failed = 0;
    char what[WHY_MAX];

    for (const struct deck_node *e = node->first; e != NULL; e = e->next)
        n++;
    if (node->kind != DECK_ARRAY || n == 0 || n != v->columns) {
        snprintf(what, sizeof what, "expected a row of %zu number%s, got %zu",
                 v->columns, v->columns == 1 ? "" : "s", n);
        if (node->kind != DECK_ARRAY)
            complain_type(p, v->param, node, "a row of numbers in brackets");
        else
            complain(p, v->param, node, what);
        return -1;
    }
    n = 0;
    for (const struct deck_node *e = node->first; e != NULL; e = e->next)
        failed |=
            convert_double(p, v->param, e, &v->numbers[i * v->columns + n++]);
    return failed;
}

static int convert_element(struct params *p, struct param_value *v,
                           const struct deck_node *node, size_t i)
{
    switch (v->param->type) {
    case PARAM_INTS:
        return convert_int(p, v->param, node, &v->integers[i]);
    case PARAM_DOUBLES:
        return convert_double(p, v->param, node, &v->numbers[i]);
    case PARAM_MATRIX:
        return convert_row(p, v, node, i);
    case PARAM_STRINGS:
        v->texts[i] = convert_string(p, v->param, node);
        return v->texts[i] != NULL ? 0 : -1;
    default:
        return convert_pair(p, v->param, node, &v->texts[2 * i]);
    }
}

static int allocate_array(struct params *p, struct param_value *v, size_t n)
{
    v->n = n;
    if (v->param->type == PARAM_INTS)
        v->integers = calloc(n, sizeof *v->integers);
    else if (v->param->type == PARAM_DOUBLES)
        v->numbers = calloc(n, sizeof *v->numbers);
    else if (v->param->type == PARAM_MATRIX)
        v->numbers = calloc(n * v->columns + 1, sizeof *v->numbers);
    else
        v->texts = calloc(2 * n, sizeof *v->texts);
    if (v->integers != NULL || v->numbers != NULL || v->texts != NULL)
        return 0;
    p->no_memory = 1;
    return -1;
}

static int convert_array(struct params *p, const struct deck_node *node,
                         struct param_value *v)
{
    const struct param *param = v->param;
    char what[WHY_MAX];
    size_t n = 0, i = 0;
    int failed = 0;

    snprintf(what, sizeof what, "an array of %s", element_name(param));
    if (node->kind < DECK_ARRAY && (param->flags & PARAM_ALONE))
        return allocate_array(p, v, 1) != 0 ? -1
                                            : convert_element(p, v, node, 0);
    if (node->kind != DECK_ARRAY) {
        complain_type(p, param, node, what);
        return -1;
    }
    for (const struct deck_node *e = node->first; e != NULL; e = e->next)
        n++;
    if (n == 0 || (param->count > 0 && n != (size_t)param->count)) {
        if (param->count > 0)
            snprintf(what, sizeof what, "expected %d %s, got %zu", param->count,
                     element_name(param), n);
        else
            snprintf(what, sizeof what, "expected at least one of %s",
                     element_name(param));
        complain(p, param, node, what);
        return -1;
    }
    for (const struct deck_node *e = node->first->first; e != NULL; e = e->next)
        v->columns += param->type == PARAM_MATRIX;
    if (allocate_array(p, v, n) != 0)
        return -1;
    for (const struct deck_node *e = node->first; e != NULL; e = e->next)
        failed |= convert_element(p, v, e, i++);
    return failed;
}

void param_convert(struct params *p, const struct deck_node *node,
                   struct param_value *v)
{
    int failed = 0;

    switch (v->param->type) {
    case PARAM_BOOL:
        v->integer = node->integer;
        failed = node->kind != DECK_BOOL;
        if (failed)
            complain_type(p, v->param, node, "true or false");
        break;
    case PARAM_INT:
        failed = convert_int(p, v->param, node, &v->integer);
        break;
    case PARAM_DOUBLE:
        failed = convert_double(p, v->param, node, &v->number);
        break;
    case PARAM_STRING:
        v->text = convert_string(p, v->param, node);
        failed = v->text == NULL;
        break;
    case PARAM_INTERVAL:
        failed = convert_interval(p, v->param, node, &v->interval);
        break;
    default:
        failed = convert_array(p, node, v);
    }
    v->present = !failed;
}
