/* deck_override.c: what a command line puts into a deck, "section.key=value".
 */
#include "base/deck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deck_toml.h"
#include "base/numeral.h"

struct deck_node *deck_parse_value(const char *text, char *why, size_t size)
{
    struct deck_toml_error error = {0};
    struct deck_node *root, *value = NULL;
    size_t n = strlen(text) + sizeof "v = ";
    char *line = malloc(n);

    snprintf(why, size, "out of memory");
    if (line == NULL)
        return NULL;
    snprintf(line, n, "v = %s", text);
    root = deck_toml_parse(line, strlen(line), &error);
    free(line);
    if (root == NULL) {
        snprintf(why, size, "%s", error.text);
        return NULL;
    }
    /* text with line ends could bring more keys with it */
    if (root->first == root->last && strcmp(root->first->key, "v") == 0) {
        value = root->first;
        root->first = root->last = NULL;
        free(value->key);
        value->key = NULL;
    } else {
        snprintf(why, size, "more than one value");
    }
    deck_node_destroy(root);
    return value;
}

static struct deck_node *new_child(struct deck_node *table, const char *key,
                                   size_t length, enum deck_kind kind)
{
    struct deck_node *child = calloc(1, sizeof *child);

    if (child == NULL)
        return NULL;
    child->kind = kind;
    child->key = strndup(key, length);
    if (child->key == NULL) {
        free(child);
        return NULL;
    }
    if (table->last != NULL)
        table->last->next = child;
    else
        table->first = child;
    table->last = child;
    return child;
}

/* Numbers that TOML does not take, such as ".5", "05" or more than 64 bits. */
static void take_bare_number(struct deck_node *value)
{
    int64_t whole;

    if (numeral_whole(value->text, value->length, &whole) == NULL) {
        value->kind = DECK_INT;
        value->integer = whole;
    } else if (numeral_length(value->text) == value->length &&
               value->length > 0) {
        value->kind = DECK_DOUBLE;
        value->number = strtod(value->text, NULL);
    }
}

/* A value of an override: TOML, or a text without quotes. */
static struct deck_node *override_value(const char *text, char *why,
                                        size_t size)
{
    struct deck_node *value = deck_parse_value(text, why, size);

    if (value != NULL || (text[0] != '\0' && strchr("[{\"'", text[0])))
        return value;
    value = calloc(1, sizeof *value);
    if (value == NULL)
        return NULL;
    value->kind = DECK_STRING;
    value->text = strdup(text);
    value->length = strlen(text);
    if (value->text == NULL) {
        free(value);
        return NULL;
    }
    take_bare_number(value);
    return value;
}

static void replace_value(struct deck_node *old, struct deck_node *value,
                          int number)
{
    const struct deck_place place = {0, 0, number};

    deck_node_destroy(old->first);
    free(old->text);
    old->kind = value->kind;
    old->first = value->first;
    old->last = value->last;
    old->is_tables = value->is_tables;
    old->integer = value->integer;
    old->number = value->number;
    old->text = value->text;
    old->length = value->length;
    old->key_place = old->place = place;
    free(value);
    /* what is inside came from the command line as well */
    for (struct deck_node *n = old->first; n != NULL; n = n->next) {
        n->key_place = n->place = place;
        for (struct deck_node *m = n->first; m != NULL; m = m->next)
            m->key_place = m->place = place;
    }
}

int deck_override(struct deck *deck, const char *text, int number, char *why,
                  size_t size)
{
    const char *equals = strchr(text, '='), *s = text;
    struct deck_node *node = deck->root, *value;
    int depth = 0;

    if (equals == NULL || equals == text ||
        memchr(text, '.', (size_t)(equals - text)) == NULL) {
        snprintf(why, size, "expected section.key=value");
        return -1;
    }
    while (s <= equals) {
        size_t length = strcspn(s, ".=");
        char key[64];

        if (length == 0 || length >= sizeof key || ++depth > DECK_DEPTH_MAX ||
            memchr(s, ' ', length) != NULL) {
            snprintf(why, size,
                     "expected section.key=value without blanks "
                     "around the '.' and the '='");
            return -1;
        }
        snprintf(key, sizeof key, "%.*s", (int)length, s);
        if (node->kind != DECK_TABLE) {
            snprintf(why, size,
                     node->kind == DECK_ARRAY
                         ? "a list of sections can only be changed in the deck"
                         : "the deck has a value where this needs a section");
            return -1;
        }
        struct deck_node *child = deck_find(node, key);
        if (child == NULL)
            child = new_child(node, key, length, DECK_TABLE);
        if (child == NULL) {
            snprintf(why, size, "out of memory");
            return -1;
        }
        if (child->place.line == 0)
            child->place.override = child->key_place.override = number;
        node = child;
        s += length + 1;
    }
    value = override_value(equals + 1, why, size);
    if (value == NULL)
        return -1;
    replace_value(node, value, number);
    return 0;
}
