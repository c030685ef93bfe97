/* deck.h: an input deck as a tree of keys and values that knows where each one
 * stands.
 *
 * A deck is TOML 1.0. This file has no idea what the keys mean (that is
 * param.h): it reads the bytes, refuses what is not UTF-8 or not TOML, and
 * gives every key and value its line and column, so that later complaints can
 * point at them. It also owns the form of those complaints.
 */
#ifndef WARPDECK_BASE_DECK_H
#define WARPDECK_BASE_DECK_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ctx;

enum deck_kind {
    DECK_BOOL,
    DECK_INT,
    DECK_DOUBLE,
    DECK_STRING,
    DECK_DATETIME, /* kept as text; no key wants one */
    DECK_ARRAY,
    DECK_TABLE
};

/* Where something stands: line and column (code points) count from 1; line 0 is
 * nowhere. Of an override, `override` is its number from 1 and line is 0. */
struct deck_place {
    int line, column;
    int override;
};

/* A value. Tables and arrays list their children in the order of the text. */
struct deck_node {
    enum deck_kind kind;
    char *key; /* NULL in an array */
    struct deck_place key_place, place;
    struct deck_node *first, *last, *next;
    int is_tables;   /* an array of tables, [[key]] */
    int64_t integer; /* DECK_INT; 0 or 1 of DECK_BOOL */
    double number;   /* DECK_DOUBLE */
    char *text;      /* DECK_STRING, DECK_DATETIME; ends with NUL */
    size_t length;   /* of text; it may hold NULs of its own */
};

struct deck {
    char *path;
    char *text; /* the bytes as read, and a NUL */
    size_t length;
    struct deck_node *root;       /* a table */
    const char *const *overrides; /* borrowed; to name them in messages */
};

/* Limits: no deck that a person or a script means comes near them. */
enum { DECK_BYTES_MAX = 64000000, DECK_DEPTH_MAX = 32 };

/* Read the file on rank 0, give the bytes to all, and parse. Errors:
 * STATUS_DECK with the full message. The caller owns *out. Collective. */
int deck_read(struct ctx *ctx, const char *path, struct deck **out);

/* Parse bytes in memory; `path` is for messages. Not collective. */
int deck_parse(struct ctx *ctx, const char *path, const char *text, size_t n,
               struct deck **out);
void deck_destroy(struct deck *deck);

/* A value by itself, "[1, 2]". NULL and a line in `why` where it is not TOML.
 * The caller owns it. */
struct deck_node *deck_parse_value(const char *text, char *why, size_t size);
void deck_node_destroy(struct deck_node *node);

/* The child of that key, or NULL. */
struct deck_node *deck_find(const struct deck_node *table, const char *key);

/* Put "section.key=value" into the tree, over what stands there. Text that is
 * not a TOML value counts as a string. `number` counts from 1. Returns 0, or -1
 * and a line in `why`. The last override of a key wins. */
int deck_override(struct deck *deck, const char *text, int number, char *why,
                  size_t size);

/* "integer", "text", ... */
const char *deck_kind_name(const struct deck_node *node);

/* ---- complaints ---- */

struct deck_errors;

struct deck_errors *deck_errors_create(void); /* NULL: no memory */
void deck_errors_destroy(struct deck_errors *errors);

/* Keep one message. `where`: line 0 and no override means the deck as a whole
 * (line 1). With `quote` the line is shown, with a caret. */
void deck_errors_add(struct deck_errors *errors, struct deck_place where,
                     int quote, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void deck_errors_vadd(struct deck_errors *errors, struct deck_place where,
                      int quote, const char *fmt, va_list args);

/* 0 where there are none; otherwise STATUS_DECK with all of them in the order
 * of the deck, then those of the command line, then "N errors; nothing was
 * started". What does not fit into the error text is counted. */
int deck_errors_finish(struct ctx *ctx, const struct deck *deck,
                       struct deck_errors *errors);

/* The name nearest to `word` by edit distance among n, if it is near enough to
 * be a slip; otherwise NULL. */
const char *deck_nearest(const char *word, size_t n, const char *const *names);
/* The edit distance itself: insert, delete, replace, swap of neighbours. */
int deck_distance(const char *a, const char *b);

#ifdef __cplusplus
}
#endif

/* Length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7), of n >
 * 0 bytes; 0: there is none. */
size_t deck_utf8_length(const unsigned char *s, size_t n);

#endif
