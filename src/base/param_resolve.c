/* The deck as it was understood, as TOML. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param_value.h"

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (byte < 0x20 || byte == 0x7f)
            fprintf(out, "\\u%04X", byte);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void print_double(FILE *out, double number)
{
    char text[40];

    fputs(param_format_double(number, text, sizeof text), out);
}

static void print_interval(FILE *out, const struct param_value *v)
{
    if (v->interval.kind != INTERVAL_TIME) {
        fprintf(out, "%" PRId64, v->interval.steps);
    } else if (v->param->flags & PARAM_WALL) {
        fputc('"', out);
        print_double(out, v->interval.time);
        fputs(" s\"", out);
    } else {
        print_double(out, v->interval.time);
    }
}

/* A row of a matrix. */
static void print_row(FILE *out, const struct param_value *v, size_t row)
{
    fputc('[', out);
    for (size_t j = 0; j < v->columns; j++) {
        if (j > 0)
            fputs(", ", out);
        print_double(out, v->numbers[row * v->columns + j]);
    }
    fputc(']', out);
}

static void print_array(FILE *out, const struct param_value *v)
{
    fputc('[', out);
    for (size_t i = 0; i < v->n; i++) {
        if (i > 0)
            fputs(", ", out);
        if (v->param->type == PARAM_MATRIX) {
            print_row(out, v, i);
        } else if (v->param->type == PARAM_INTS) {
            fprintf(out, "%" PRId64, v->integers[i]);
        } else if (v->param->type == PARAM_DOUBLES) {
            print_double(out, v->numbers[i]);
        } else if (v->param->type == PARAM_STRINGS) {
            print_text(out, v->texts[i]);
        } else {
            fputc('[', out);
            print_text(out, v->texts[2 * i]);
            fputs(", ", out);
            print_text(out, v->texts[2 * i + 1]);
            fputc(']', out);
        }
    }
    fputc(']', out);
}

static void print_value(FILE *out, const struct param_value *v)
{
    fprintf(out, "%s = ", v->param->key);
    switch (v->param->type) {
    case PARAM_BOOL:
        fputs(v->integer ? "true" : "false", out);
        break;
    case PARAM_INT:
        fprintf(out, "%" PRId64, v->integer);
        break;
    case PARAM_DOUBLE:
        print_double(out, v->number);
        break;
    case PARAM_STRING:
        print_text(out, v->text);
        break;
    case PARAM_INTERVAL:
        print_interval(out, v);
        break;
    default:
        print_array(out, v);
    }
    fputc('\n', out);
}

static void print_section(FILE *out, const struct params *p,
                          const struct param_standing *s, int index)
{
    fprintf(out, s->repeated ? "[[%s]]\n" : "[%s]\n", s->name);
    const struct param *q = NULL;

    while ((q = param_next(p, s->name, q)) != NULL) {
        const struct param_value *v = param_find(p, q->section, index, q->key);
        if (v != NULL && v->present && !v->left_out)
            print_value(out, v);
    }
    fputc('\n', out);
}

const char *params_resolved(const struct params *p, size_t *n)
{
    /* a cache, which is why a const params may change in this one place */
    struct params *mutable = (struct params *)(uintptr_t)p;
    char *text = NULL;
    FILE *out = open_memstream(&text, n);

    *n = 0;
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < p->n_sections; i++) {
        const struct param_standing *s = &p->sections[i];
        int shown = s->repeated ? s->count : s->count > 0 || !s->optional;
        for (int index = 0; index < shown; index++)
            print_section(out, p, s, index);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    free(mutable->resolved);
    mutable->resolved = text;
    return text;
}
