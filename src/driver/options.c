/* The command line, understood. Only what the tables in commands.c say. */
#include "driver/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/deck.h"
#include "base/error.h"
#include "base/numeral.h"
#include "driver/options.h"

static const char *nearest_command(const char *typed)
{
    const char *names[32];
    size_t n = 0;
    for (const struct command *c = commands; c->name != NULL && n < 32; c++)
        if (!(c->flags & COMMAND_HIDDEN))
            names[n++] = c->name;
    return deck_nearest(typed, n, names);
}

int unknown_command(struct ctx *ctx, const char *typed)
{
    const char *nearest = nearest_command(typed);
    int status =
        FAIL(ctx, STATUS_USAGE, "unknown command '%s'%s%s%s", typed,
             nearest != NULL ? "; did you mean '" : "",
             nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return error_context(ctx, status, "use warpdeck --help for the list");
}

static int takes(const struct command *c, int id)
{
    return id == OPTION_HELP || c == NULL || (c->options & (1u << id)) != 0;
}

static int unknown_option(struct ctx *ctx, const struct command *c,
                          const char *typed)
{
    const char *names[OPTION_COUNT];
    size_t n = 0;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (takes(c, id))
            names[n++] = options[id].name;
    const char *nearest =
        strncmp(typed, "--", 2) == 0 ? deck_nearest(typed + 2, n, names) : NULL;
    int status =
        FAIL(ctx, STATUS_USAGE, "unknown option '%s'%s%s%s", typed,
             nearest != NULL ? "; did you mean '--" : "",
             nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return error_context(ctx, status, "use warpdeck %s%s--help",
                         c != NULL ? c->name : "", c != NULL ? " " : "");
}

/* The option typed as `text` ("--output", "--output=DIR", "-o"), or -1; *value
 * points behind the '='. */
static int find_option(const char *text, const char **value)
{
    *value = NULL;
    if (text[1] != '-') {
        for (int id = 0; id < OPTION_COUNT; id++)
            if (options[id].letter != 0 && text[1] == options[id].letter &&
                text[2] == '\0')
                return id;
        return -1;
    }
    size_t n = strcspn(text + 2, "=");
    if (text[2 + n] == '=')
        *value = text + 3 + n;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (strlen(options[id].name) == n &&
            strncmp(options[id].name, text + 2, n) == 0)
            return id;
    return -1;
}

/* Whether `value` is one of "a|b|c". */
static int is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *c = choices;; c++) {
        size_t length = strcspn(c, "|");
        if (length == n && strncmp(c, value, n) == 0)
            return 1;
        c += length;
        if (*c == '\0')
            return 0;
    }
}

static int take_option(struct ctx *ctx, struct command_line *line, int *at)
{
    const char *typed = line->argv[*at];
    const char *value;
    int id = find_option(typed, &value);
    if (id < 0)
        return unknown_option(ctx, line->command, typed);
    const struct option *o = &options[id];
    if (o->argument == NULL && value != NULL)
        return FAIL(ctx, STATUS_USAGE, "--%s takes no value", o->name);
    if (o->argument != NULL && value == NULL) {
        if (*at + 1 >= line->argc)
            return FAIL(ctx, STATUS_USAGE, "--%s needs a value: --%s %s",
                        o->name, o->name, o->argument);
        value = line->argv[++*at];
    }
    if (o->argument != NULL && strchr(o->argument, '|') != NULL &&
        !is_choice(o->argument, value))
        return FAIL(ctx, STATUS_USAGE, "--%s %s: expected one of %s", o->name,
                    value, o->argument);
    if (o->argument != NULL && value[0] == '\0')
        return FAIL(ctx, STATUS_USAGE, "--%s needs a value, not an empty one",
                    o->name);
    line->option[id] = value != NULL ? value : "";
    return 0;
}

static int take_word(struct ctx *ctx, struct command_line *line,
                     const char *word)
{
    if (line->command == NULL) {
        line->command = command_find(word);
        return line->command == NULL ? unknown_command(ctx, word) : 0;
    }
    const struct command *c = line->command;
    if ((c->flags & COMMAND_OVERRIDES) != 0 &&
        line->n_arguments >= c->arguments_min && strchr(word, '=') != NULL) {
        line->overrides[line->n_overrides++] = word;
        return 0;
    }
    if (line->n_arguments < c->arguments_max) {
        line->arguments[line->n_arguments++] = word;
        return 0;
    }
    int status = FAIL(ctx, STATUS_USAGE, "unexpected '%s'", word);
    if ((c->flags & COMMAND_OVERRIDES) != 0)
        return error_context(ctx, status,
                             "use section.key=value to set a key of the deck");
    return error_context(ctx, status, "use warpdeck %s --help", c->name);
}

/* What can only be said once the whole line is known. */
static int check_line(struct ctx *ctx, const struct command_line *line)
{
    const struct command *c = line->command;
    if (c == NULL) {
        int status = FAIL(ctx, STATUS_USAGE, "no command is given");
        return error_context(ctx, status, "use warpdeck --help");
    }
    for (int id = 0; id < OPTION_COUNT; id++)
        if (line->option[id] != NULL && !takes(c, id)) {
            int status = FAIL(ctx, STATUS_USAGE, "%s takes no --%s", c->name,
                              options[id].name);
            return error_context(ctx, status, "use warpdeck %s --help",
                                 c->name);
        }
    if (line->option[OPTION_QUIET] != NULL &&
        line->option[OPTION_VERBOSE] != NULL)
        return FAIL(ctx, STATUS_USAGE, "--quiet and --verbose exclude another");
    if (line->n_arguments < c->arguments_min) {
        int status =
            FAIL(ctx, STATUS_USAGE, "%s needs %s", c->name, c->synopsis);
        return error_context(ctx, status, "use warpdeck %s --help", c->name);
    }
    return 0;
}

/* --help and --version win over whatever is wrong with the rest. */
static int asks_for_help(int argc, char **argv, struct command_line *line)
{
    const char *value;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-') {
            if (line->command == NULL)
                line->command = command_find(argv[i]);
            continue;
        }
        int id = find_option(argv[i], &value);
        if (id == OPTION_HELP || id == OPTION_VERSION)
            line->option[id] = "";
        else if (id >= 0 && options[id].argument != NULL && value == NULL)
            i++;
    }
    return line->option[OPTION_HELP] != NULL ||
           line->option[OPTION_VERSION] != NULL;
}

int command_line_parse(struct ctx *ctx, int argc, char **argv,
                       struct command_line *line)
{
    *line = (struct command_line){.argc = argc, .argv = argv};
    if (asks_for_help(argc, argv, line))
        return 0;
    line->command = NULL;
    line->overrides = calloc((size_t)argc + 1, sizeof(*line->overrides));
    if (line->overrides == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for the command line");
    int only_words = 0;
    for (int i = 1; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0)
            only_words = 1;
        else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0')
            TRY(take_option(ctx, line, &i));
        else
            TRY(take_word(ctx, line, argv[i]));
    }
    return check_line(ctx, line);
}

void command_line_free(struct command_line *line)
{
    free(line->overrides);
    line->overrides = NULL;
}

int option_count(struct ctx *ctx, const struct command_line *line, int id,
                 long min, long *value)
{
    const char *text = line->option[id];
    if (text == NULL)
        return 0;
    int64_t n;
    if (numeral_whole(text, strlen(text), &n) != NULL || n < min ||
        n > 2147483647)
        return FAIL(ctx, STATUS_USAGE,
                    "--%s %s: expected a whole number of at least %ld",
                    options[id].name, text, min);
    *value = (long)n;
    return 0;
}
