/* warpdeck new: a deck to start from, made of the tables. It runs as it stands:
 * required keys have their example. All others are named; with --all they are
 * comments with their default. */
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/deck.h"
#include "base/error.h"
#include "base/param_help.h"
#include "driver/commands.h"
#include "driver/driver_params.h"
#include "solvers/solver.h"

struct starter {
    const struct solver *solver;
    int all;
    char sections[4096]; /* those that are named only: "[a], [b]" */
};

static void append(char *list, size_t size, const char *before,
                   const char *name, const char *after)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s%s%s", used > 0 ? ", " : "", before,
             name, after);
}

static int is_live(const struct param *param)
{
    return (param->flags & (PARAM_REQUIRED | PARAM_STARTER)) != 0;
}

/* One comment, wrapped where it is long. */
static void print_summary(const char *text)
{
    enum { WIDTH = 70 };

    while (strlen(text) > WIDTH) {
        const char *cut = text + WIDTH;
        while (cut > text && *cut != ' ')
            cut--;
        if (cut == text)
            break;
        printf("%.*s\n#   ", (int)(cut - text), text);
        text = cut + 1;
    }
    puts(text);
}

static void print_key(const struct param *param, int in_live_section,
                      const struct starter *starter)
{
    char text[PARAM_TEXT_MAX];
    int is_solver =
        strcmp(param->section, "run") == 0 && strcmp(param->key, "solver") == 0;

    putchar('\n');
    param_wrap(stdout, "# ", 79, param->help);
    fputs("# Type: ", stdout);
    print_summary(param_summary(param, text));
    if (is_solver)
        printf("%s = \"%s\"\n", param->key, starter->solver->name);
    else
        printf("%s%s = %s\n", in_live_section && is_live(param) ? "" : "#",
               param->key, param_example(param, text));
}

/* An optional section is written as a comment unless one of its keys belongs
 * into a first deck. */
static int section_is_live(const struct param_table *table, const char *name)
{
    const struct param_section *s = param_table_section(table, name);

    if (s == NULL || !s->optional)
        return 1;
    for (const struct param *q = table->params; q->section != NULL; q++)
        if (strcmp(q->section, name) == 0 && (q->flags & PARAM_STARTER))
            return 1;
    return 0;
}

/* Whether a short deck has something of it. */
static int has_live_key(const struct param_table *table, const char *name)
{
    for (const struct param *q = table != NULL ? table->params : NULL;
         q != NULL && q->section != NULL; q++)
        if (strcmp(q->section, name) == 0 && is_live(q))
            return 1;
    return 0;
}

static int has_section(const struct param_table *table, const char *name)
{
    const char *other;

    for (int i = 0; (other = param_table_section_at(table, i)) != NULL; i++)
        if (strcmp(other, name) == 0)
            return 1;
    return 0;
}

/* The keys of one table in a section, but for those that `before` has; names of
 * those that are not printed go to `more`. */
static void print_keys(const struct param_table *table, const char *name,
                       const struct param_table *before, int live,
                       const struct starter *starter, char *more, size_t size)
{
    for (const struct param *q = table->params; q->section != NULL; q++) {
        if (strcmp(q->section, name) != 0 ||
            (before != NULL && param_table_key(before, name, q->key) != NULL))
            continue;
        if (starter->all || is_live(q))
            print_key(q, live, starter);
        else
            append(more, size, "", q->key, "");
    }
}

/* `more`: the solver's table where the section is the driver's, or NULL. */
static void print_section(const struct param_table *table, const char *name,
                          const struct param_table *more,
                          struct starter *starter)
{
    char others[2048] = "";
    const struct param_section *s =
        more != NULL ? param_table_section(more, name) : NULL;
    int live = section_is_live(table, name) ||
               (more != NULL && section_is_live(more, name));
    if (s == NULL)
        s = param_table_section(table, name);
    int repeated = s != NULL && s->repeated;
    int shown = live && (has_live_key(table, name) || has_live_key(more, name));
    if (!shown && !starter->all) {
        append(starter->sections, sizeof starter->sections,
               repeated ? "[[" : "[", name, repeated ? "]]" : "]");
        return;
    }

    printf("\n# ---- %s ", name);
    for (size_t i = strlen(name); i < 66; i++)
        putchar('-');
    putchar('\n');
    if (s != NULL && s->help != NULL)
        param_wrap(stdout, "# ", 79, s->help);
    printf("\n%s%s%s%s\n", live ? "" : "#", repeated ? "[[" : "[", name,
           repeated ? "]]" : "]");
    if (more != NULL)
        print_keys(more, name, NULL, live, starter, others, sizeof others);
    print_keys(table, name, more, live, starter, others, sizeof others);
    if (others[0] != '\0') {
        fputs("\n# Further keys:\n", stdout);
        param_wrap(stdout, "#   ", 79, others);
    }
}

/* [run] stands first in a deck, what else the driver has last. */
static void print_driver(int only_run, struct starter *starter)
{
    const struct param_table *table = driver_param_table();
    const struct param_table *own = starter->solver->params;
    const char *name;

    for (int i = 0; (name = param_table_section_at(table, i)) != NULL; i++)
        if ((strcmp(name, "run") == 0) == only_run)
            print_section(table, name, has_section(own, name) ? own : NULL,
                          starter);
}

static void print_solver(struct starter *starter)
{
    const struct param_table *own = starter->solver->params;
    const char *name;

    for (int i = 0; (name = param_table_section_at(own, i)) != NULL; i++)
        if (!has_section(driver_param_table(), name))
            print_section(own, name, NULL, starter);
}

/* The solver's opening lines, as comments. */
static void print_opening(const char *text)
{
    while (*text != '\0') {
        int n = (int)strcspn(text, "\n");
        printf("%s%.*s\n", text[0] == '#' ? "" : n > 0 ? "# " : "#", n, text);
        text += n + (text[n] == '\n');
    }
}

static int unknown_solver(struct ctx *ctx, const char *typed)
{
    const char *names[32];
    char list[256] = "";
    size_t n = 0;

    for (int i = 0; solver_at(i) != NULL && n < 32; i++) {
        size_t used = strlen(list);
        names[n++] = solver_at(i)->name;
        snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "",
                 solver_at(i)->name);
    }
    const char *near = n > 1 ? deck_nearest(typed, n, names) : NULL;
    if (near != NULL)
        return FAIL(ctx, STATUS_USAGE,
                    "there is no solver '%s'; did you mean '%s'?", typed, near);
    return FAIL(ctx, STATUS_USAGE, "there is no solver '%s'; there is: %s",
                typed, list);
}

int cmd_new(struct ctx *ctx, const struct command_line *line)
{
    const char *name = line->arguments[0];
    const struct solver *solver = solver_find(name);

    if (solver == NULL)
        return unknown_solver(ctx, name);
    struct starter starter = {.solver = solver,
                              .all = line->option[OPTION_ALL] != NULL};
    print_opening(solver->starter);
    if (starter.all)
        printf("#\n# Lines that begin with # and no blank are keys that may be "
               "changed: take the\n# # away. They show the default, or an "
               "example where there is none.\n");
    printf("%s# 'warpdeck explain %s' tells more.\n", starter.all ? "" : "#\n",
           solver->name);
    print_driver(1, &starter);
    print_solver(&starter);
    print_driver(0, &starter);
    if (starter.sections[0] != '\0') {
        fputs("\n# ---- further sections -----------------------------------"
              "--------------------\n",
              stdout);
        printf("# 'warpdeck new %s --all' shows them with all their keys.\n#\n",
               solver->name);
        param_wrap(stdout, "#   ", 79, starter.sections);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return FAIL(ctx, STATUS_IO, "cannot write to standard output");
    return 0;
}
