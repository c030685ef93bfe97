#include "base/param_help.h"

#include <string.h>

#include "base/param_value.h"

enum { WIDTH = 79 };

static void append(char *buf, const char *text)
{
    size_t used = strlen(buf);

    snprintf(buf + used, PARAM_TEXT_MAX - used, "%s", text);
}

/* What a dimension is called, "" of a plain number. */
static const char *dimension_name(struct dimension d)
{
    static const struct {
        struct dimension dim;
        const char *name;
    } names[] = {
        {{0, 0, 0, 0, 0, 0}, ""},
        {{1, 0, 0, 0, 0, 0}, "mass"},
        {{0, 1, 0, 0, 0, 0}, "length"},
        {{0, 0, 1, 0, 0, 0}, "time"},
        {{0, 0, 0, 1, 0, 0}, "temperature"},
        {{0, 0, 0, 0, 1, 0}, "charge"},
        {{1, 2, -2, 0, 0, 0}, "energy"},
        {{0, 1, -1, 0, 0, 0}, "velocity"},
        {{1, 1, -2, 0, 0, 0}, "force"},
        {{1, -1, -2, 0, 0, 0}, "pressure"},
        {{0, 2, 0, 0, 0, 0}, "area"},
        {{0, 3, 0, 0, 0, 0}, "volume"},
        {{0, -3, 0, 0, 0, 0}, "number density"},
        {{1, -3, 0, 0, 0, 0}, "density"},
        {{0, 2, -1, 0, 0, 0}, "kinematic viscosity"},
        {{0, 0, -1, 0, 0, 0}, "rate"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (memcmp(&names[i].dim, &d, sizeof d) == 0)
            return names[i].name;
    return "quantity with a unit";
}

static int has_dimension(const struct param *param)
{
    return dimension_name(param->dim)[0] != '\0';
}

static int is_number(const struct param *param)
{
    return param->type == PARAM_DOUBLE || param->type == PARAM_DOUBLES ||
           param->type == PARAM_MATRIX;
}

const char *param_type_text(const struct param *param, char *buf)
{
    static const char *const names[] = {
        [PARAM_BOOL] = "true or false",
        [PARAM_INT] = "integer",
        [PARAM_DOUBLE] = "number",
        [PARAM_STRING] = "text",
        [PARAM_INTERVAL] = "interval: a whole number of steps (0: never), or a "
                           "simulated time (a number with a fraction, or a "
                           "quantity in quotes)",
        [PARAM_INTS] = "integers",
        [PARAM_DOUBLES] = "numbers",
        [PARAM_STRINGS] = "texts",
        [PARAM_STRING_PAIRS] = "pairs of texts",
        [PARAM_MATRIX] = "rows of numbers, all of one length"};
    const char *name = names[param->type];

    if (param->type == PARAM_INTERVAL && (param->flags & PARAM_WALL))
        name =
            "interval: a whole number of steps (0: never), or a wall time in "
            "quotes such as \"30 min\" or \"3:55:00\"";
    if (param->type < PARAM_INTS)
        snprintf(buf, PARAM_TEXT_MAX, "%s", name);
    else if (param->count > 0)
        snprintf(buf, PARAM_TEXT_MAX, "array of %d %s", param->count, name);
    else
        snprintf(buf, PARAM_TEXT_MAX, "array of %s%s", name,
                 (param->flags & PARAM_ALONE) ? ", or one alone" : "");
    return buf;
}

const char *param_unit_text(const struct param *param, char *buf)
{
    buf[0] = '\0';
    if (!is_number(param) || !has_dimension(param))
        return buf;
    append(buf, "lj: reduced");
    for (int i = UNITS_METAL; i <= UNITS_SI; i++) {
        enum unit_system system = (enum unit_system)i;
        char name[96];
        append(buf, ", ");
        append(buf, unit_system_name(system));
        append(buf, ": ");
        append(buf, unit_name(system, param->dim, name, sizeof name));
    }
    return buf;
}

const char *param_range_text(const struct param *param, char *buf)
{
    char part[64];

    buf[0] = '\0';
    if (param->flags & PARAM_HAS_MIN) {
        snprintf(part, sizeof part, "%s %.10g",
                 (param->flags & PARAM_MIN_OPEN) ? ">" : ">=", param->min);
        append(buf, part);
    }
    if (param->flags & PARAM_HAS_MAX) {
        snprintf(part, sizeof part, "%s%s %.10g", buf[0] ? " and " : "",
                 (param->flags & PARAM_MAX_OPEN) ? "<" : "<=", param->max);
        append(buf, part);
    }
    return buf;
}

const char *param_default_text(const struct param *param, char *buf)
{
    if (param->flags & PARAM_REQUIRED)
        snprintf(buf, PARAM_TEXT_MAX, "none: required");
    else if (param->flags & PARAM_DEFAULT_LJ)
        snprintf(buf, PARAM_TEXT_MAX, "%s in lj units, otherwise required",
                 param->fallback);
    else if (param_has_default(param))
        snprintf(buf, PARAM_TEXT_MAX, "%s", param->fallback);
    else
        snprintf(buf, PARAM_TEXT_MAX, "none: may be left out");
    return buf;
}

const char *param_choices_text(const struct param *param, char *buf)
{
    return param_list_choices(param->choices, buf, PARAM_TEXT_MAX);
}

static int has_one_choice(const struct param *param)
{
    size_t n;

    return param_choice(param->choices, 1, 0, &n) == NULL;
}

const char *param_summary(const struct param *param, char *buf)
{
    char part[PARAM_TEXT_MAX], *colon;

    param_type_text(param, buf);
    colon = strchr(buf, ':');
    if (colon != NULL)
        *colon = '\0';
    if (param_range_text(param, part)[0] != '\0') {
        append(buf, " ");
        append(buf, part);
    }
    if (param->choices != NULL) {
        append(buf, has_one_choice(param) ? ", only " : ", one of ");
        append(buf, param_choices_text(param, part));
    }
    if (is_number(param) && has_dimension(param)) {
        const char *name = dimension_name(param->dim);
        append(buf, strchr("aeiou", name[0]) != NULL ? ", an " : ", a ");
        append(buf, name);
    }
    if (param_has_default(param)) {
        append(buf, "; default ");
        append(buf, param_default_text(param, part));
    } else {
        append(buf,
               (param->flags & PARAM_REQUIRED) ? "; required" : "; optional");
    }
    return buf;
}

const char *param_example(const struct param *param, char *buf)
{
    size_t n;
    const char *choice = param_choice(param->choices, 0, 0, &n);
    static const char *const placeholders[] = {
        [PARAM_BOOL] = "true",
        [PARAM_INT] = "1",
        [PARAM_DOUBLE] = "1.0",
        [PARAM_STRING] = "\"...\"",
        [PARAM_INTERVAL] = "100",
        [PARAM_INTS] = "[1, 1, 1]",
        [PARAM_DOUBLES] = "[1.0, 1.0, 1.0]",
        [PARAM_STRINGS] = "[\"A\"]",
        [PARAM_STRING_PAIRS] = "[[\"A\", \"A\"]]",
        [PARAM_MATRIX] = "[[1.0, 0.5], [0.5, 1.0]]"};

    if (param->fallback != NULL)
        return param->fallback;
    if (param->type == PARAM_STRINGS && param->count == 2)
        return "[\"A\", \"A\"]";
    if (param->type == PARAM_STRING && choice != NULL) {
        snprintf(buf, PARAM_TEXT_MAX, "\"%.*s\"", (int)n, choice);
        return buf;
    }
    return placeholders[param->type];
}

void param_wrap(FILE *out, const char *indent, int width, const char *text)
{
    int column = 0, start = (int)strlen(indent);

    while (*text != '\0') {
        size_t word = strcspn(text, " \n");
        if (column > 0 && column + 1 + (int)word > width - start) {
            fputc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%s%.*s", column == 0 ? indent : " ", (int)word,
                          text) -
                  (column == 0 ? start : 0);
        text += word;
        if (*text == '\n') {
            fputc('\n', out);
            column = 0;
        }
        text += *text != '\0';
        while (*text == ' ')
            text++;
    }
    if (column > 0)
        fputc('\n', out);
}

/* ---- the tables ---- */

const struct param_section *param_table_section(const struct param_table *table,
                                                const char *name)
{
    for (const struct param_section *s = table->sections;
         s != NULL && s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

const struct param *param_table_key(const struct param_table *table,
                                    const char *section, const char *key)
{
    for (const struct param *q = table->params; q->section != NULL; q++)
        if (strcmp(q->section, section) == 0 && strcmp(q->key, key) == 0)
            return q;
    return NULL;
}

/* Whether an earlier key than `q` names the same section. */
static int named_before(const struct param_table *table, const struct param *q)
{
    for (const struct param *e = table->params; e != q; e++)
        if (strcmp(e->section, q->section) == 0)
            return 1;
    return 0;
}

const char *param_table_section_at(const struct param_table *table, int i)
{
    for (const struct param_section *s = table->sections;
         s != NULL && s->name != NULL; s++)
        if (i-- == 0)
            return s->name;
    for (const struct param *q = table->params; q->section != NULL; q++)
        if (param_table_section(table, q->section) == NULL &&
            !named_before(table, q) && i-- == 0)
            return q->section;
    return NULL;
}

/* ---- printing ---- */

static void print_row(FILE *out, const char *name, const char *text)
{
    char indent[] = "            ";

    if (text[0] == '\0')
        return;
    fprintf(out, "  %-10s", name);
    /* the first line stands behind the name already */
    size_t width = WIDTH - sizeof indent;
    if (strlen(text) <= width) {
        fprintf(out, "%s\n", text);
        return;
    }
    while (width > 0 && text[width] != ' ')
        width--;
    fprintf(out, "%.*s\n", (int)width, text);
    param_wrap(out, indent, WIDTH, text + width + 1);
}

/* How the section may be written shorter, or "". */
static const char *word_text(const struct param *param, char *buf)
{
    const char *dot = strrchr(param->section, '.');
    char example[PARAM_TEXT_MAX];

    buf[0] = '\0';
    if ((param->flags & PARAM_WORD) && dot != NULL)
        snprintf(buf, PARAM_TEXT_MAX, "%s = %.60s in [%.*s]", dot + 1,
                 param_example(param, example), (int)(dot - param->section),
                 param->section);
    return buf;
}

void param_explain_key(FILE *out, const struct param *param)
{
    char text[PARAM_TEXT_MAX];

    fprintf(out, "%s.%s\n", param->section, param->key);
    param_wrap(out, "  ", WIDTH, param->help);
    fputc('\n', out);
    print_row(out, "type", param_type_text(param, text));
    print_row(out, "choices", param_choices_text(param, text));
    print_row(out, "unit", param_unit_text(param, text));
    print_row(out, "range", param_range_text(param, text));
    print_row(out, "default", param_default_text(param, text));
    fprintf(out, "  example   %s = %s\n", param->key,
            param_example(param, text));
    print_row(out, "short", word_text(param, text));
}

void param_explain_section(FILE *out, const struct param_table *table,
                           const char *section)
{
    const struct param_section *s = param_table_section(table, section);
    char text[PARAM_TEXT_MAX];

    fprintf(out, s != NULL && s->repeated ? "[[%s]]" : "[%s]", section);
    fputs(s != NULL && s->optional ? "  (optional)\n" : "\n", out);
    if (s != NULL && s->help != NULL)
        param_wrap(out, "  ", WIDTH, s->help);
    for (const struct param *q = table->params; q->section != NULL; q++) {
        if (strcmp(q->section, section) != 0)
            continue;
        fprintf(out, "\n  %s\n", q->key);
        param_wrap(out, "      ", WIDTH, param_summary(q, text));
        param_wrap(out, "      ", WIDTH, q->help);
        if (q->flags & PARAM_WORD)
            fprintf(out, "      short: %s\n", word_text(q, text));
    }
}
