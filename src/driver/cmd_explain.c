/* warpdeck explain: the keys of decks, from the tables that check them. */
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/deck.h"
#include "base/error.h"
#include "base/param_help.h"
#include "driver/commands.h"
#include "driver/driver_params.h"

enum { TEXT_MAX = 160, SHOWN_MAX = 5 };

static void list_sections(const struct param_table *table)
{
    const char *name;

    for (int i = 0; (name = param_table_section_at(table, i)) != NULL; i++) {
        const struct param_section *s = param_table_section(table, name);
        char left[64];
        snprintf(left, sizeof left,
                 s != NULL && s->repeated ? "[[%s]]" : "[%s]", name);
        printf("  %s\n", left);
        if (s != NULL && s->help != NULL)
            param_wrap(stdout, "      ", 79, s->help);
    }
}

static void explain_all(void)
{
    const struct param_table *table;
    const char *solver, *title;

    for (int i = 0; (table = param_table_at(i, &solver, &title)) != NULL; i++) {
        if (i == 0)
            printf("Sections of %s:\n\n", title);
        else
            printf("\nSolver %s: %s\n\n", solver, title);
        list_sections(table);
    }
    printf("\nNext: warpdeck explain SOLVER, explain SECTION, explain "
           "SECTION.KEY\n");
}

static void explain_table(const struct param_table *table, const char *solver,
                          const char *title)
{
    const char *name;

    printf("%s: %s\n", solver, title);
    for (int i = 0; (name = param_table_section_at(table, i)) != NULL; i++) {
        putchar('\n');
        param_explain_section(stdout, table, name);
    }
    printf("\nEvery deck also has the sections of warpdeck explain run, "
           "domain, output,\ncheckpoint and guard.\n");
}

/* Whether `name` is `path` or lies below it. */
static int is_within(const char *name, const char *path)
{
    size_t n = strlen(path);

    return strncmp(name, path, n) == 0 && (name[n] == '\0' || name[n] == '.');
}

/* The sections of that name and below. Returns how many were printed. */
static int explain_section(const char *path)
{
    const struct param_table *table;
    const char *solver, *title, *name;
    int n = 0;

    for (int i = 0; (table = param_table_at(i, &solver, &title)) != NULL; i++)
        for (int j = 0; (name = param_table_section_at(table, j)); j++)
            if (is_within(name, path)) {
                if (n++ > 0)
                    putchar('\n');
                param_explain_section(stdout, table, name);
            }
    return n;
}

static int explain_key(const char *path)
{
    const struct param_table *table;
    const char *solver, *title, *dot = strrchr(path, '.');
    char section[TEXT_MAX];

    if (dot == NULL)
        return 0;
    snprintf(section, sizeof section, "%.*s", (int)(dot - path), path);
    for (int i = 0; (table = param_table_at(i, &solver, &title)) != NULL; i++) {
        const struct param *param = param_table_key(table, section, dot + 1);
        if (param != NULL) {
            param_explain_key(stdout, param);
            return 1;
        }
    }
    return 0;
}

/* ---- names that do not exist ---- */

struct guess {
    char nearest[TEXT_MAX];
    int distance;
    char same[TEXT_MAX]; /* keys of that very name, in any section */
    int n_same;
};

static void consider(struct guess *g, const char *typed, const char *name,
                     const char *last)
{
    int distance = deck_distance(typed, name);
    size_t used = strlen(g->same);

    if (distance < g->distance) {
        g->distance = distance;
        snprintf(g->nearest, sizeof g->nearest, "%s", name);
    }
    if (strcmp(typed, last) == 0 && g->n_same++ < SHOWN_MAX)
        snprintf(g->same + used, sizeof g->same - used, "%s%s",
                 used > 0 ? ", " : "", name);
}

static void consider_table(struct guess *g, const char *typed,
                           const struct param_table *table)
{
    const char *name;

    for (int j = 0; (name = param_table_section_at(table, j)); j++) {
        const char *dot = strrchr(name, '.');
        consider(g, typed, name, dot != NULL ? dot + 1 : name);
    }
    for (const struct param *q = table->params; q->section != NULL; q++) {
        char full[TEXT_MAX];
        snprintf(full, sizeof full, "%s.%s", q->section, q->key);
        consider(g, typed, full, q->key);
    }
}

static int unknown_name(struct ctx *ctx, const char *typed)
{
    struct guess g = {.distance = 1 + (int)strlen(typed) / 4};
    const struct param_table *table;
    const char *solver, *title;

    g.distance++; /* near enough is below this */
    for (int i = 0; (table = param_table_at(i, &solver, &title)) != NULL; i++)
        consider_table(&g, typed, table);
    if (g.n_same > 0)
        return FAIL(ctx, STATUS_USAGE,
                    "nothing is called '%s'; did you mean %s?", typed, g.same);
    if (g.nearest[0] != '\0')
        return FAIL(ctx, STATUS_USAGE,
                    "nothing is called '%s'; did you mean '%s'?", typed,
                    g.nearest);
    return FAIL(ctx, STATUS_USAGE,
                "nothing is called '%s'; warpdeck explain lists what there is",
                typed);
}

static int finish(struct ctx *ctx)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return FAIL(ctx, STATUS_IO, "cannot write to standard output");
    return 0;
}

int cmd_explain(struct ctx *ctx, const struct command_line *line)
{
    const char *name = line->n_arguments > 0 ? line->arguments[0] : "";
    const struct param_table *table;
    const char *solver, *title;

    if (name[0] == '\0') {
        explain_all();
        return finish(ctx);
    }
    for (int i = 1; (table = param_table_at(i, &solver, &title)) != NULL; i++)
        if (strcmp(solver, name) == 0) {
            explain_table(table, solver, title);
            return finish(ctx);
        }
    if (explain_key(name) || explain_section(name) > 0)
        return finish(ctx);
    return unknown_name(ctx, name);
}
