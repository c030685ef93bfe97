/* md_data_line.c: where the file of a system lists a term, for messages about
 * what its places make of it. Lines are not kept: the file is read once more.
 */
#include "md_data.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_text.h"

/* By kind of term; of others there is no section. */
static const char *const titles[MD_TERM_KINDS] = {
    [MD_TERM_BOND] = "Bonds",
    [MD_TERM_ANGLE] = "Angles",
    [MD_TERM_DIHEDRAL] = "Dihedrals",
    [MD_TERM_IMPROPER] = "Impropers",
    [MD_TERM_CMAP] = "CMAP"};

/* The line of row `row` of a section, from 0; 0: it is no longer there. */
static int64_t find_row(struct md_text *t, const char *title, size_t row)
{
    int there, in_section = 0;
    size_t at = 0;
    if (md_text_line(t, &there) != 0) /* the file's own title */
        return 0;
    while (md_text_words(t, &there) == 0 && there) {
        if (t->n_words == 0)
            continue;
        if (isalpha((unsigned char)t->word[0][0]))
            in_section = strcmp(t->word[0], title) == 0;
        else if (in_section && at++ == row)
            return t->number;
    }
    return 0;
}

int64_t md_data_line(struct ctx *ctx, const struct md_data *data, size_t term)
{
    int kind = data->terms[term].kind;
    size_t row = 0, in_file = data->n_file_terms;
    struct md_text t = {.ctx = ctx, .path = data->path, .told_open = 1};
    if (data->styled || !titles[kind])
        return 0;
    if (in_file > 0) /* its copies come one after the other */
        term %= in_file;
    for (size_t k = 0; k < term; k++)
        row += data->terms[k].kind == kind;
    t.file = fopen(data->path, "r");
    int64_t line = t.file ? find_row(&t, titles[kind], row) : 0;
    md_text_close(&t);
    return line;
}

int md_data_fail(struct ctx *ctx, const struct md_data *data, size_t term,
                 const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    int64_t line = md_data_line(ctx, data, term);
    if (line == 0)
        return FAIL(ctx, STATUS_INPUT, "'%s': %s", data->path, text);
    return FAIL_AT(ctx, STATUS_INPUT, "%s:%" PRId64 ": error: %s: %s",
                   data->path, line, titles[data->terms[term].kind], text);
}
