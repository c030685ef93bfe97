#include "base/deck.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/deck_toml.h"
#include "base/error.h"

static const char *const nothing_started = "1 error; nothing was started";

/* ---- the tree ---- */

/* Without recursion: a table's children are put before its next sibling. */
void deck_node_destroy(struct deck_node *node)
{
    while (node != NULL) {
        struct deck_node *next = node->next;
        if (node->first != NULL) {
            node->last->next = next;
            next = node->first;
        }
        free(node->key);
        free(node->text);
        free(node);
        node = next;
    }
}

struct deck_node *deck_find(const struct deck_node *table, const char *key)
{
    if (table == NULL || table->kind != DECK_TABLE)
        return NULL;
    for (struct deck_node *n = table->first; n != NULL; n = n->next)
        if (strcmp(n->key, key) == 0)
            return n;
    return NULL;
}

const char *deck_kind_name(const struct deck_node *node)
{
    static const char *const names[] = {
        "true or false",  "an integer", "a number", "a text",
        "a date or time", "an array",   "a table"};

    if (node->kind == DECK_ARRAY && node->is_tables)
        return "an array of tables";
    return names[node->kind];
}

void deck_destroy(struct deck *deck)
{
    if (deck == NULL)
        return;
    deck_node_destroy(deck->root);
    free(deck->path);
    free(deck->text);
    free(deck);
}

/* ---- bytes ---- */

static int read_all(struct ctx *ctx, int fd, const char *path, char **text,
                    size_t *n)
{
    size_t capacity = 1 << 16;

    *n = 0;
    *text = malloc(capacity);
    while (*text != NULL) {
        ssize_t got = read(fd, *text + *n, capacity - *n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return FAIL_AT(ctx, STATUS_DECK,
                           "%s: error: cannot be read: %s\n%s", path,
                           strerror(errno), nothing_started);
        if (got == 0)
            return 0;
        *n += (size_t)got;
        if (*n > DECK_BYTES_MAX)
            return FAIL_AT(ctx, STATUS_DECK,
                           "%s: error: larger than %d MB: this is no deck\n%s",
                           path, DECK_BYTES_MAX / 1000000, nothing_started);
        if (*n == capacity) {
            char *grown = realloc(*text, 2 * capacity);
            if (grown == NULL)
                break;
            *text = grown;
            capacity *= 2;
        }
    }
    return FAIL(ctx, STATUS_MEMORY, "no memory for the deck '%s'", path);
}

static int read_file(struct ctx *ctx, const char *path, char **text, size_t *n)
{
    struct stat info;
    int status, fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return FAIL_AT(ctx, STATUS_DECK, "%s: error: cannot be opened: %s\n%s",
                       path, strerror(errno), nothing_started);
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(fd);
        return FAIL_AT(ctx, STATUS_DECK,
                       "%s: error: is a folder; a deck is a file, such as "
                       "'%s/NAME.toml'\n%s",
                       path, path, nothing_started);
    }
    status = read_all(ctx, fd, path, text, n);
    close(fd);
    return status;
}

int deck_read(struct ctx *ctx, const char *path, struct deck **out)
{
    char *text = NULL;
    size_t n = 0;
    int status = 0;

    *out = NULL;
    if (comm_rank(ctx->comm) == 0)
        status = read_file(ctx, path, &text, &n);
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(comm_bcast(ctx, &n, sizeof n));
    if (comm_rank(ctx->comm) != 0) {
        text = malloc(n + 1);
        if (text == NULL)
            status = FAIL(ctx, STATUS_MEMORY, "no memory for the deck");
    }
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(comm_bcast(ctx, text, n));
    TRY_CLEANUP(comm_agree(ctx, deck_parse(ctx, path, text, n, out)));
cleanup:
    free(text);
    if (status != 0) {
        deck_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* ---- UTF-8 ---- */

size_t deck_utf8_length(const unsigned char *s, size_t n)
{
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xc2 ? 0
                    : s[0] < 0xe0 ? 2
                    : s[0] < 0xf0 ? 3
                    : s[0] < 0xf5 ? 4
                                  : 0;

    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

static int looks_like_utf16(const char *text, size_t n)
{
    if (n < 2)
        return 0;
    return memcmp(text, "\xff\xfe", 2) == 0 ||
           memcmp(text, "\xfe\xff", 2) == 0 ||
           (text[0] != '\0') != (text[1] != '\0');
}

static struct deck_place place_of_byte(const char *text, size_t at)
{
    struct deck_place place = {1, 1, 0};

    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

static void check_encoding(const struct deck *deck, size_t start,
                           struct deck_errors *errors)
{
    const struct deck_place top = {1, 1, 0};

    if (looks_like_utf16(deck->text, deck->length)) {
        deck_errors_add(errors, top, 0,
                        "the deck is UTF-16 text; save it as UTF-8");
        return;
    }
    for (size_t i = start; i < deck->length;) {
        const unsigned char *s = (const unsigned char *)deck->text + i;
        size_t length = deck_utf8_length(s, deck->length - i);
        if (length == 0) {
            deck_errors_add(
                errors, place_of_byte(deck->text + start, i - start), 0,
                "byte 0x%02X is not UTF-8; save the deck as UTF-8", *s);
            return;
        }
        i += length;
    }
}

/* ---- TOML ---- */

/* The first place of a key that the library says is defined twice: the text
 * before the second one is parsed again with a marker key behind it, which
 * shows the table that was open there. */
static int first_definition(const char *text, const struct deck_toml_error *e,
                            struct deck_place *first)
{
    static const char marker[] = "\nwarpdeck_marker = 1\n";
    const char *line = text, *quote = strchr(e->text, '\''), *end;
    int header =
        strstr(e->text, "table '") != NULL || strstr(e->text, "' as ") != NULL;
    struct deck_toml_error ignored;
    struct deck_node *root, *key_root = NULL, *table, *path;
    char key[128];
    char *before;
    int found = -1;

    end = quote != NULL ? strchr(quote + 1, '\'') : NULL;
    for (int i = 1; i < e->line && line != NULL; i++) {
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (end == NULL || line == NULL || (size_t)(end - quote) >= sizeof key)
        return -1;
    snprintf(key, sizeof key, "%.*s = 1", (int)(end - quote - 1), quote + 1);
    before = malloc((size_t)(line - text) + sizeof marker);
    if (before == NULL)
        return -1;
    memcpy(before, text, (size_t)(line - text));
    memcpy(before + (line - text), marker, sizeof marker);
    root = deck_toml_parse(before, strlen(before), &ignored);
    key_root = deck_toml_parse(key, strlen(key), &ignored);
    free(before);

    table = root;
    while (!header && table != NULL && table->first != NULL &&
           deck_find(table, "warpdeck_marker") == NULL)
        table = table->last;
    path = key_root != NULL ? key_root->first : NULL;
    while (table != NULL && path != NULL) {
        if (table->kind == DECK_ARRAY && table->is_tables)
            table = table->last;
        table = deck_find(table, path->key);
        if (table != NULL && path->first == NULL) {
            *first = table->key_place;
            found = 0;
        }
        path = path->first;
    }
    deck_node_destroy(root);
    deck_node_destroy(key_root);
    return found;
}

/* The library says "Error while parsing X: WHAT". */
static void add_library_error(struct deck_errors *errors,
                              struct deck_place where, const char *text)
{
    static const char start[] = "Error while parsing ";
    const char *part = text + sizeof start - 1, *what = strstr(text, ": ");

    if (strncmp(text, start, sizeof start - 1) == 0 && what > part)
        deck_errors_add(errors, where, 1, "%s (while reading %s %.*s)",
                        what + 2, strchr("aeiou", part[0]) ? "an" : "a",
                        (int)(what - part), part);
    else
        deck_errors_add(errors, where, 1, "%s", text);
}

static void add_toml_error(const char *text, struct deck_errors *errors,
                           const struct deck_toml_error *e)
{
    const struct deck_place where = {e->line, e->column, 0};
    struct deck_place first;

    if (strstr(e->text, "redefine") != NULL &&
        first_definition(text, e, &first) == 0) {
        const char *name = strchr(e->text, '\'') + 1;
        deck_errors_add(errors, where, 1,
                        "'%.*s' stands twice: here and in line %d",
                        (int)(strchr(name, '\'') - name), name, first.line);
        return;
    }
    add_library_error(errors, where, e->text);
}

int deck_parse(struct ctx *ctx, const char *path, const char *text, size_t n,
               struct deck **out)
{
    struct deck_toml_error error = {0};
    struct deck_errors *errors = deck_errors_create();
    struct deck *deck = calloc(1, sizeof *deck);
    size_t start = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    int status = 0;

    *out = NULL;
    if (deck != NULL) {
        deck->path = strdup(path);
        deck->text = malloc(n + 1);
    }
    if (deck == NULL || errors == NULL || deck->path == NULL ||
        deck->text == NULL) {
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the deck '%s'", path);
        goto cleanup;
    }
    memcpy(deck->text, text, n);
    deck->text[n] = '\0';
    deck->length = n;
    check_encoding(deck, start, errors);
    TRY_CLEANUP(deck_errors_finish(ctx, deck, errors));
    deck->root = deck_toml_parse(deck->text + start, n - start, &error);
    if (error.no_memory)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the deck '%s'", path);
    else if (deck->root == NULL)
        add_toml_error(deck->text + start, errors, &error);
    if (status == 0)
        status = deck_errors_finish(ctx, deck, errors);
cleanup:
    deck_errors_destroy(errors);
    if (status != 0)
        deck_destroy(deck);
    else
        *out = deck;
    return status;
}
