/* --help, from the tables in commands.c. */
#include <string.h>

#include "base/ctx.h"
#include "driver/commands.h"
#include "driver/options.h"
#include "driver/version.h"

enum { WIDTH = 78 };

/* Words of `text` up to its first newline, wrapped at WIDTH; every line after
 * the first begins at `column`, where the first one stands already. */
static const char *print_wrapped(FILE *out, const char *text, int column)
{
    int at = column;
    while (*text != '\0' && *text != '\n') {
        int n = (int)strcspn(text, " \n");
        if (at > column && at + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", n, text);
        at += n;
        text += n;
        while (*text == ' ')
            text++;
    }
    fputc('\n', out);
    return *text == '\n' ? text + 1 : text;
}

/* Paragraphs; a line that begins with blanks stays as it is. */
static void print_paragraphs(FILE *out, const char *text)
{
    while (*text != '\0') {
        if (*text == ' ') {
            int n = (int)strcspn(text, "\n");
            fprintf(out, "%.*s\n", n, text);
            text += n;
            text += *text == '\n';
        } else {
            text = print_wrapped(out, text, 0);
        }
    }
}

/* "a|b|c" is printed as it is, a placeholder too. */
static void print_option(FILE *out, const struct option *o)
{
    char left[64];
    char letter[8] = "    ";
    if (o->letter != 0)
        snprintf(letter, sizeof(letter), "-%c, ", o->letter);
    snprintf(left, sizeof(left), "  %s--%s%s%s", letter, o->name,
             o->argument != NULL ? " " : "",
             o->argument != NULL ? o->argument : "");
    if (strlen(left) <= 26)
        fprintf(out, "%-28s", left);
    else
        fprintf(out, "%s\n%28s", left, "");
    print_wrapped(out, o->help, 28);
}

void help_program(FILE *out)
{
    fprintf(out,
            "Warpdeck %s: molecular dynamics, incompressible flow and Monte "
            "Carlo risk,\neach run from an input deck on the ranks there "
            "are.\n\n"
            "usage: warpdeck COMMAND ...\n"
            "       mpirun -n RANKS warpdeck COMMAND ...\n\n",
            version_number());
    for (const struct command *c = commands; c->name != NULL; c++)
        if (!(c->flags & COMMAND_HIDDEN))
            fprintf(out, "  %-9s %s\n", c->name, c->help);
    fputs("\n", out);
    print_option(out, &options[OPTION_HELP]);
    print_option(out, &options[OPTION_VERSION]);
    fputs("\n"
          "First steps:\n"
          "  warpdeck new md > first.toml     a commented deck\n"
          "  warpdeck check first.toml        what it would need\n"
          "  mpirun -n 2 warpdeck run first.toml\n"
          "\n"
          "Exit status: 0 finished; 1 the run failed; 2 bad command line or "
          "deck;\n"
          "3 the physics failed; 75 stopped early as asked.\n",
          out);
}

void help_command(FILE *out, const struct command *command)
{
    fprintf(out, "usage: warpdeck %s%s%s%s\n\n", command->name,
            command->options != 0 ? " [options]" : "",
            command->synopsis[0] != '\0' ? " " : "", command->synopsis);
    print_paragraphs(out, command->details);
    if (command->options != 0)
        fputs("\n", out);
    for (int id = 0; id < OPTION_COUNT; id++)
        if ((command->options & (1u << id)) != 0)
            print_option(out, &options[id]);
}

int cmd_help(struct ctx *ctx, const struct command_line *line)
{
    if (line->n_arguments == 0) {
        help_program(stdout);
        return 0;
    }
    const struct command *c = command_find(line->arguments[0]);
    if (c == NULL)
        return unknown_command(ctx, line->arguments[0]);
    help_command(stdout, c);
    return 0;
}
