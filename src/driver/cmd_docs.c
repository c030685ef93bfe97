/* warpdeck docs: the man page and the bash completion, from the tables of
 * commands, options and keys. */
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param_help.h"
#include "driver/commands.h"
#include "driver/driver_params.h"
#include "driver/version.h"
#include "solvers/solver.h"

/* ---- man page ---- */

/* Text in roff: backslashes and dashes escaped; a line must not begin with a
 * dot or a quote. Bold words are not marked: the text is for several readers.
 */
static void roff_text(const char *text, size_t n)
{
    int at_start = 1;

    for (size_t i = 0; i < n; i++) {
        if (at_start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", stdout);
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else
            putchar(text[i]);
        at_start = text[i] == '\n';
    }
}

static void roff(const char *text)
{
    roff_text(text, strlen(text));
}

/* Paragraphs; lines that begin with blanks stay as they are. */
static void roff_paragraphs(const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        int literal = text[0] == ' ';
        if (n == 0)
            puts(".PP");
        if (literal)
            puts(".nf");
        if (n > 0) {
            roff_text(text, n);
            putchar('\n');
        }
        if (literal)
            puts(".fi");
        text += n + (text[n] == '\n');
    }
}

static void man_option(const struct option *o)
{
    puts(".TP");
    fputs(".B ", stdout);
    if (o->letter != 0)
        printf("\\-%c, ", o->letter);
    fputs("\\-\\-", stdout);
    roff(o->name);
    if (o->argument != NULL) {
        fputs(" \\fI", stdout);
        roff(o->argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    roff(o->help);
    putchar('\n');
}

static void man_command(const struct command *c)
{
    fputs(".SS \"", stdout);
    roff(c->name);
    if (c->synopsis[0] != '\0') {
        putchar(' ');
        roff(c->synopsis);
    }
    puts("\"");
    roff_paragraphs(c->details != NULL ? c->details : c->help);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (c->options & (1u << i))
            man_option(&options[i]);
}

static void man_keys(const struct param_table *table)
{
    char text[PARAM_TEXT_MAX];
    const char *name;

    for (int i = 0; (name = param_table_section_at(table, i)) != NULL; i++) {
        const struct param_section *s = param_table_section(table, name);
        int repeated = s != NULL && s->repeated;
        printf(".SS %s%s%s\n", repeated ? "[[" : "[", name,
               repeated ? "]]" : "]");
        if (s != NULL && s->help != NULL) {
            roff(s->help);
            putchar('\n');
        }
        for (const struct param *q = table->params; q->section != NULL; q++) {
            if (strcmp(q->section, name) != 0)
                continue;
            printf(".TP\n.B %s\n", q->key);
            roff(q->help);
            fputs("\n.br\n(", stdout);
            roff(param_summary(q, text));
            puts(")");
        }
    }
}

static void man_page(void)
{
    const struct param_table *table;
    const char *solver, *title;

    printf(".TH WARPDECK 1 \"\" \"Warpdeck %s\" \"User Commands\"\n",
           version_number());
    puts(".SH NAME\nwarpdeck \\- simulations from an input deck, on the ranks "
         "there are");
    puts(".SH SYNOPSIS");
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (c->flags & COMMAND_HIDDEN)
            continue;
        printf(".B warpdeck %s\n", c->name);
        roff(c->options != 0 ? "[options] " : "");
        roff(c->synopsis);
        puts("\n.br");
    }
    puts(".SH DESCRIPTION\nWarpdeck reads an input deck, a TOML file, hands it "
         "to the solver it names, runs it over the MPI ranks it was started "
         "on, and writes HDF5.");
    puts(".SH COMMANDS");
    for (const struct command *c = commands; c->name != NULL; c++)
        if (!(c->flags & COMMAND_HIDDEN))
            man_command(c);
    puts(".SH OPTIONS OF ALL COMMANDS");
    man_option(&options[OPTION_HELP]);
    man_option(&options[OPTION_VERSION]);
    for (int i = 0; (table = param_table_at(i, &solver, &title)) != NULL; i++) {
        if (i == 0)
            puts(".SH KEYS OF EVERY DECK");
        else
            printf(".SH KEYS OF SOLVER %s\n", solver);
        man_keys(table);
    }
    puts(".SH EXIT STATUS\n"
         ".TP\n.B 0\nfinished\n"
         ".TP\n.B 1\nthe run failed\n"
         ".TP\n.B 2\nbad command line or deck; nothing was started\n"
         ".TP\n.B 3\nthe physics failed\n"
         ".TP\n.B 75\nstopped early as asked");
}

/* ---- completion ---- */

/* "auto|cpu|cuda" lists values; a placeholder such as DIR does not. */
static int lists_values(const char *argument)
{
    return argument != NULL && strchr(argument, '|') != NULL;
}

static void words_of_list(const char *list)
{
    for (const char *c = list; *c != '\0'; c++)
        putchar(*c == '|' ? ' ' : *c);
}

static void completion_options(void)
{
    puts("    case $prev in");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        if (o->argument == NULL)
            continue;
        printf("        --%s", o->name);
        if (o->letter != 0)
            printf("|-%c", o->letter);
        fputs(") ", stdout);
        if (lists_values(o->argument)) {
            fputs("COMPREPLY=($(compgen -W '", stdout);
            words_of_list(o->argument);
            puts("' -- \"$cur\")); return ;;");
        } else if (strcmp(o->argument, "DIR") == 0) {
            puts("COMPREPLY=($(compgen -d -- \"$cur\")); return ;;");
        } else {
            puts("return ;;");
        }
    }
    puts("    esac");
}

/* What a command takes: options that begin with a dash, else its words. */
static void completion_command(const struct command *c)
{
    printf("        %s)\n            opts='--help", c->name);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (c->options & (1u << i))
            printf(" --%s", options[i].name);
    puts("'");
    if (strncmp(c->synopsis, "DECK", 4) == 0)
        puts("            files=1");
    if (c->flags & COMMAND_OVERRIDES)
        puts("            words=$overrides");
    else if (strncmp(c->synopsis, "[SOLVER[", 8) == 0)
        puts("            words=$names");
    else if (strcmp(c->synopsis, "[COMMAND]") == 0)
        puts("            words=$commands");
    else if (strchr(c->synopsis, '|') != NULL) {
        fputs("            words='", stdout);
        words_of_list(c->synopsis);
        puts("'");
    }
    if (strncmp(c->synopsis, "SOLVER", 6) == 0 ||
        strncmp(c->synopsis, "[SOLVER]", 8) == 0)
        puts("            words=\"$solvers $words\"");
    puts("            ;;");
}

static void completion_names(int overrides)
{
    const struct param_table *table;
    const char *solver, *title, *name;

    for (int i = 0; (table = param_table_at(i, &solver, &title)) != NULL; i++) {
        for (int j = 0; !overrides && (name = param_table_section_at(table, j));
             j++)
            printf(" %s", name);
        for (const struct param *q = table->params; q->section != NULL; q++) {
            const struct param_section *s =
                param_table_section(table, q->section);
            /* one of several sections can not be named on the command line */
            if (overrides && s != NULL && s->repeated)
                continue;
            printf(" %s.%s%s", q->section, q->key, overrides ? "=" : "");
        }
    }
}

static void completion(void)
{
    puts("# bash completion of warpdeck, made by `warpdeck docs completion`\n"
         "_warpdeck()\n"
         "{\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} "
         "prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local command='' opts='' words='' files='' i\n"
         "    COMPREPLY=()");
    fputs("    local commands='", stdout);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (!(c->flags & COMMAND_HIDDEN))
            printf("%s%s", c != commands ? " " : "", c->name);
    fputs("'\n    local solvers='", stdout);
    for (int i = 0; solver_at(i) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", solver_at(i)->name);
    fputs("'\n    local names='", stdout);
    completion_names(0);
    fputs("'\n    local overrides='", stdout);
    completion_names(1);
    puts("'");
    completion_options();
    puts("    for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "        [[ ${COMP_WORDS[i]} == -* ]] || { "
         "command=${COMP_WORDS[i]}; break; }\n"
         "    done\n"
         "    case $command in\n"
         "        '') words=$commands; opts='--help --version' ;;");
    for (const struct command *c = commands; c->name != NULL; c++)
        completion_command(c);
    puts("    esac\n"
         "    if [[ $cur == -* ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$opts\" -- \"$cur\"))\n"
         "        return\n"
         "    fi\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "    if [[ $files ]]; then\n"
         "        COMPREPLY+=($(compgen -f -X '!*.toml' -- \"$cur\")\n"
         "                    $(compgen -d -S / -- \"$cur\"))\n"
         "    fi\n"
         "    # a key's value or a folder's file follows without a blank\n"
         "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]] &&\n"
         "        compopt -o nospace\n"
         "    return 0\n"
         "}\n"
         "complete -F _warpdeck warpdeck");
}

int cmd_docs(struct ctx *ctx, const struct command_line *line)
{
    const char *what = line->arguments[0];

    if (strcmp(what, "man") == 0)
        man_page();
    else if (strcmp(what, "completion") == 0)
        completion();
    else
        return FAIL(ctx, STATUS_USAGE,
                    "warpdeck docs '%s': expected man or completion", what);
    if (fflush(stdout) != 0 || ferror(stdout))
        return FAIL(ctx, STATUS_IO, "cannot write to standard output");
    return 0;
}
