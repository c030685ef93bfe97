/* md_top_text.c: see md_top_text.h. */
#define _POSIX_C_SOURCE 200809L /* getline, strdup */
#define _XOPEN_SOURCE 700       /* realpath */

#include "md_top_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_text.h"
#include "md_top_define.h"

/* Files that include others twice are read twice each: few of them within one
 * another are more than anyone can wait for. */
enum { FILES_MAX = 10000 };

struct top_source {
    FILE *file;
    char *real; /* its path without links, to find circles */
    int32_t name, line;
};

/* ---- messages ---- */

static int fail_at(struct top_text *t, struct top_place place,
                   const char *section, const char *fmt, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof text, fmt, args);
    text_hide_control(text);
    int named = section[0] != '\0';
    return FAIL_AT(t->ctx, STATUS_INPUT, "%s:%" PRId32 ": error: %s%s%s%s",
                   place.file < t->n_files ? t->files[place.file] : "?",
                   place.line, named ? "[ " : "", section, named ? " ]: " : "",
                   text);
}

int top_fail_at(struct top_text *t, struct top_place place, const char *section,
                const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int status = fail_at(t, place, section, fmt, args);
    va_end(args);
    return status;
}

int top_fail(struct top_text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int status = fail_at(t, t->place, t->section, fmt, args);
    va_end(args);
    return status;
}

/* ---- numbers ---- */

static const char *word_of(const struct top_text *t, int w)
{
    return w < t->n_words ? t->word[w] : NULL;
}

int top_whole(struct top_text *t, int w, int64_t least, int64_t most,
              const char *what, int64_t *value)
{
    char wrong[MD_TEXT_WRONG];
    if (!md_word_whole(word_of(t, w), least, most, what, value, wrong))
        return 0;
    return top_fail(t, "%s", wrong);
}

int top_real(struct top_text *t, int w, const char *what, double *value)
{
    const char *word = word_of(t, w);
    char wrong[MD_TEXT_WRONG];
    if (!md_word_real(word, what, value, wrong))
        return 0;
    int is_name = word && isalpha((unsigned char)word[0]);
    return top_fail(t, "%s%s", wrong, is_name ? ", nor a definition" : "");
}

/* ---- files ---- */

/* Whether the file is being read already: then the includes run in a circle. */
static int check_circle(struct top_text *t, const char *real, const char *path)
{
    for (int k = 0; k < t->depth; k++)
        if (t->stack[k].real && strcmp(t->stack[k].real, real) == 0)
            return top_fail(t,
                            "'%.200s' is included while it is being read: the "
                            "includes run in a circle",
                            path);
    return 0;
}

static int push(struct top_text *t, const char *path, FILE *file)
{
    struct top_source *s = &t->stack[t->depth];
    char **files =
        realloc(t->files, ((size_t)t->n_files + 1) * sizeof *t->files);
    if (files)
        t->files = files;
    char *name = files ? strdup(path) : NULL;
    if (!name) {
        fclose(file);
        return top_text_no_memory(t);
    }
    *s = (struct top_source){
        .file = file, .real = realpath(path, NULL), .name = t->n_files};
    t->files[t->n_files++] = name;
    int status = s->real ? check_circle(t, s->real, path) : 0;
    t->depth++;
    return status;
}

/* folder/name, of a file's folder where `of_file`. NULL: no memory. */
static char *join(const char *folder, int of_file, const char *name)
{
    const char *slash = of_file ? strrchr(folder, '/') : NULL;
    size_t length =
        of_file ? (slash ? (size_t)(slash - folder) + 1 : 0) : strlen(folder);
    size_t size = length + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%.*s%s%s", (int)length, folder,
                 length > 0 && folder[length - 1] != '/' ? "/" : "", name);
    return path;
}

/* Open `name` beside the file that includes (k = 0), or in a folder. */
static int try_include(struct top_text *t, const char *name, size_t k,
                       int *found)
{
    const char *here = t->files[t->stack[t->depth - 1].name];
    char *path = name[0] == '/' ? strdup(name)
                 : k == 0       ? join(here, 1, name)
                                : join(t->folders[k - 1], 0, name);
    if (!path)
        return top_text_no_memory(t);
    FILE *file = fopen(path, "r");
    *found = file != NULL;
    int status = file ? push(t, path, file) : 0;
    free(path);
    return status;
}

static int include(struct top_text *t, char *rest)
{
    char *name = rest + strspn(rest, " \t"), close = '"';
    int found = 0;
    if (*name == '<')
        close = '>';
    char *end = *name == '"' || *name == '<' ? strchr(name + 1, close) : NULL;
    if (!end || end == name + 1)
        return top_fail(t, "#include wants a \"file\"");
    *end = '\0';
    name++;
    if (t->depth == TOP_DEPTH_MAX)
        return top_fail(t, "more than %d files include one another",
                        TOP_DEPTH_MAX);
    if (t->n_files == FILES_MAX)
        return top_fail(t,
                        "more than %d files are included; include each of them "
                        "once, as #ifndef NAME and #define NAME ensure",
                        FILES_MAX);
    for (size_t k = 0; k <= t->n_folders && !found; k++)
        TRY(try_include(t, name, k, &found));
    if (!found)
        return top_fail(t,
                        "cannot open '%.200s', which is included here, beside "
                        "this file or in a folder of md.initial.include",
                        name);
    return 0;
}

int top_text_open(struct ctx *ctx, const char *path, const char *const *folders,
                  size_t n_folders, struct top_text *t)
{
    *t = (struct top_text){
        .ctx = ctx, .folders = folders, .n_folders = n_folders};
    t->stack = calloc(TOP_DEPTH_MAX, sizeof *t->stack);
    if (!t->stack)
        return top_text_no_memory(t);
    FILE *file = fopen(path, "r");
    if (!file)
        return FAIL(ctx, STATUS_INPUT, "cannot open '%s': %s", path,
                    strerror(errno));
    return push(t, path, file);
}

static void pop(struct top_text *t)
{
    struct top_source *s = &t->stack[--t->depth];
    fclose(s->file);
    free(s->real);
}

void top_text_close(struct top_text *t)
{
    while (t->depth > 0)
        pop(t);
    for (int32_t k = 0; k < t->n_files; k++)
        free(t->files[k]);
    free(t->files);
    top_free_definitions(t);
    free(t->stack);
    free(t->raw);
    free(t->joined);
    free(t->line);
}

/* ---- definitions ---- */

int top_text_define(struct top_text *t, const char *text)
{
    size_t length = strcspn(text, "=");
    return top_define(t, text, length, text[length] ? text + length + 1 : "");
}

/* ---- conditions ---- */

static int is_active(const struct top_text *t)
{
    return t->n_conditions == 0 || t->conditions[t->n_conditions - 1].active;
}

static int condition(struct top_text *t, const char *name, size_t length,
                     int wanted)
{
    if (length == 0)
        return top_fail(t, "a name is missing behind #ifdef or #ifndef");
    if (t->n_conditions == TOP_DEPTH_MAX)
        return top_fail(t, "more than %d conditions within one another",
                        TOP_DEPTH_MAX);
    int holds = top_is_defined(t, name, length) == wanted;
    int outer = is_active(t);
    t->conditions[t->n_conditions++] = (struct top_condition){
        outer && holds, !outer || holds, 0, t->depth, t->place};
    return 0;
}

static int other_case(struct top_text *t, int ends)
{
    struct top_condition *c = t->conditions;
    if (t->n_conditions > 0)
        c += t->n_conditions - 1;
    if (t->n_conditions == 0 || c->depth != t->depth)
        return top_fail(t, "%s without #ifdef or #ifndef in this file",
                        ends ? "#endif" : "#else");
    if (ends) {
        t->n_conditions--;
        return 0;
    }
    if (c->has_else)
        return top_fail(t, "a second #else");
    c->has_else = 1;
    c->active = !c->taken;
    return 0;
}

/* A line that begins with '#'; `text` is what follows it. */
static int directive(struct top_text *t, char *text)
{
    text += strspn(text, " \t");
    size_t n = strcspn(text, " \t\"<");
    char *rest = text + n + strspn(text + n, " \t");
    size_t length = strcspn(rest, " \t");
    if (n == 5 && strncmp(text, "ifdef", n) == 0)
        return condition(t, rest, length, 1);
    if (n == 6 && strncmp(text, "ifndef", n) == 0)
        return condition(t, rest, length, 0);
    if (n == 4 && strncmp(text, "else", n) == 0)
        return other_case(t, 0);
    if (n == 5 && strncmp(text, "endif", n) == 0)
        return other_case(t, 1);
    if (!is_active(t))
        return 0;
    if (n == 7 && strncmp(text, "include", n) == 0)
        return include(t, rest);
    if (n == 6 && strncmp(text, "define", n) == 0 && length > 0)
        return top_define(t, rest, length,
                          rest + length + strspn(rest + length, " \t"));
    if (n == 5 && strncmp(text, "undef", n) == 0) {
        top_undefine(t, rest, length);
        return 0;
    }
    if (n == 5 && strncmp(text, "error", n) == 0)
        return top_fail(t, "the file says: %.200s", rest);
    return top_fail(t, "'#%.*s' is not understood", n < 40 ? (int)n : 40, text);
}

/* ---- lines ---- */

static void trim_end(char *text)
{
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
}

/* One line without comment and those that go on from it, into t->joined. *there
 * = 0: the end of this file. */
static int read_joined(struct top_text *t, int *there)
{
    struct top_source *s = &t->stack[t->depth - 1];
    size_t length = 0;
    int goes_on = 1;
    *there = 0;
    while (goes_on) {
        errno = 0;
        ssize_t n = getline(&t->raw, &t->cap_raw, s->file);
        if (n < 0 && ferror(s->file))
            return FAIL(t->ctx, STATUS_INPUT, "cannot read '%s': %s",
                        t->files[s->name], strerror(errno));
        if (n < 0)
            return 0;
        s->line++;
        if (s->line == 1 && strncmp(t->raw, "\xEF\xBB\xBF", 3) == 0)
            memset(t->raw, ' ', 3); /* of an editor, to say that it is UTF-8 */
        if (!*there)
            t->place = (struct top_place){s->name, s->line};
        *there = 1;
        if (t->raw[n - 1] != '\n')
            md_text_warn_open(t->ctx, t->files[s->name], s->line, t->raw,
                              (size_t)n);
        if (strlen(t->raw) != (size_t)n)
            return top_fail(t, "a zero byte: this is not a text file");
        t->raw[strcspn(t->raw, ";")] = '\0';
        trim_end(t->raw);
        size_t m = strlen(t->raw);
        goes_on = m > 0 && t->raw[m - 1] == '\\';
        m -= (size_t)goes_on;
        t->raw[m] = '\0';
        TRY(top_reserve(t, &t->joined, &t->cap_joined, length + m + 2));
        memcpy(t->joined + length, t->raw, m);
        length += m;
        if (goes_on)
            t->joined[length++] = ' ';
        t->joined[length] = '\0';
    }
    return 0;
}

/* "[ name ]" */
static int take_head(struct top_text *t, char *text)
{
    char *end = strchr(text, ']'), *name = text + 1;
    t->section[0] = '\0';
    if (!end || strspn(end + 1, " \t") != strlen(end + 1))
        return top_fail(t, "expected '[ name ]'");
    *end = '\0';
    name += strspn(name, " \t");
    trim_end(name);
    if (strlen(name) >= sizeof t->section)
        return top_fail(t, "no section has the name '%.60s'", name);
    snprintf(t->section, sizeof t->section, "%s", name);
    t->word[0] = t->section;
    t->n_words = 1;
    t->is_head = 1;
    return 0;
}

static int at_end(struct top_text *t)
{
    if (t->n_conditions > 0 &&
        t->conditions[t->n_conditions - 1].depth == t->depth)
        return top_fail_at(t, t->conditions[t->n_conditions - 1].place, "",
                           "an #ifdef or #ifndef without its #endif");
    pop(t);
    return 0;
}

int top_text_next(struct top_text *t, int *there)
{
    while (t->depth > 0) {
        TRY(read_joined(t, there));
        if (!*there) {
            TRY(at_end(t));
            continue;
        }
        char *text = t->joined + strspn(t->joined, " \t\r\n");
        t->is_head = 0;
        if (*text == '#') {
            TRY(directive(t, text + 1));
            continue;
        }
        if (!is_active(t) || *text == '\0' || *text == '*')
            continue;
        if (*text == '[')
            return take_head(t, text);
        TRY(top_words(t, text));
        if (t->n_words > 0)
            return 0;
    }
    *there = 0;
    return 0;
}
