/* Keys and sections that no table has: what was probably meant. */
#include "base/param_value.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 256 };

/* The keys declared in a section, and the last parts of the names of the
 * sections right below it: what may stand in its place in the deck. */
static size_t names_in(const struct params *p, const char *section,
                       const char **names)
{
    size_t n = 0, length = strlen(section);

    const struct param *q = NULL;

    while ((q = param_next(p, section, q)) != NULL && n < NAMES_MAX)
        names[n++] = q->key;
    for (size_t s = 0; s < p->n_sections; s++) {
        const char *name = p->sections[s].name;
        if (strncmp(name, section, length) == 0 && name[length] == '.' &&
            strchr(name + length + 1, '.') == NULL && n < NAMES_MAX)
            names[n++] = name + length + 1;
    }
    return n;
}

/* The sections that have a key of that very name: "[a] or [b]". Returns how
 * many. */
static int sections_of(const struct params *p, const char *key, char *buf,
                       size_t size)
{
    int n = 0;

    buf[0] = '\0';
    for (int t = 0; t < p->n_tables; t++)
        for (const struct param *q = p->tables[t]->params; q->section != NULL;
             q++) {
            size_t used = strlen(buf);
            if (strcmp(q->key, key) == 0 &&
                param_declared(p, q->section, key) == q)
                snprintf(buf + used, size - used, "%s[%s]",
                         n++ > 0 ? " or " : "", q->section);
        }
    return n;
}

static const struct param *near_key_elsewhere(const struct params *p,
                                              const char *key)
{
    const struct param *found = NULL;
    int best = 2;

    for (int t = 0; t < p->n_tables; t++)
        for (const struct param *q = p->tables[t]->params; q->section != NULL;
             q++) {
            int distance = deck_distance(key, q->key);
            if (distance < best && strlen(q->key) > 3) {
                best = distance;
                found = q;
            }
        }
    return found;
}

/* The same but for capitals, and - and / for _. */
static int is_word(const char *typed, const char *word)
{
    for (; *typed != '\0' && *word != '\0'; typed++, word++) {
        int c = tolower((unsigned char)*typed);
        if (c != *word && !(*word == '_' && (c == '-' || c == '/')))
            return 0;
    }
    return *typed == *word;
}

const char *param_meant(const struct params *p, const char *of,
                        const char *word)
{
    for (int t = 0; t < p->n_tables; t++) {
        const struct param_word *w = p->tables[t]->words;
        for (; w != NULL && w->word != NULL; w++)
            if (strcmp(w->of != NULL ? w->of : "", of) == 0 &&
                is_word(word, w->word))
                return w->here;
    }
    return NULL;
}

void param_unknown_key(struct params *p, const char *section,
                       const struct deck_node *node)
{
    const char *names[NAMES_MAX];
    const char *key = node->key;
    const char *near = deck_nearest(key, names_in(p, section, names), names);
    const struct param *elsewhere = near_key_elsewhere(p, key);
    const char *meant = param_meant(p, "", key);
    char where[PARAM_PATH_MAX] = "outside of any section", others[200];
    int n_others = sections_of(p, key, others, sizeof others);

    if (section[0] != '\0')
        snprintf(where, sizeof where, "in [%s]", section);
    if (n_others > 0)
        deck_errors_add(p->errors, node->key_place, 1,
                        "unknown key '%s' %s; it belongs in %s", key, where,
                        others);
    else if (meant != NULL)
        deck_errors_add(p->errors, node->key_place, 1,
                        "unknown key '%s' %s; here that is %s", key, where,
                        meant);
    else if (near != NULL)
        deck_errors_add(p->errors, node->key_place, 1,
                        "unknown key '%s' %s; did you mean '%s'?", key, where,
                        near);
    else if (elsewhere != NULL)
        deck_errors_add(p->errors, node->key_place, 1,
                        "unknown key '%s' %s; did you mean '%s' of [%s]?", key,
                        where, elsewhere->key, elsewhere->section);
    else
        deck_errors_add(p->errors, node->key_place, 1,
                        "unknown key '%s' %s; see warpdeck explain %s", key,
                        where, section);
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL ? dot + 1 : path;
}

/* A misspelt last part, and the right section under another parent. */
static const char *near_section(const struct params *p, const char *path)
{
    const char *names[NAMES_MAX] = {0}, *near;
    size_t n = 0;

    for (size_t s = 0; s < p->n_sections && n < NAMES_MAX; s++)
        names[n++] = p->sections[s].name;
    near = deck_nearest(path, n, names);
    for (size_t s = 0; near == NULL && s < n; s++)
        if (strcmp(last_part(names[s]), last_part(path)) == 0)
            near = names[s];
    for (size_t s = 0; near == NULL && s < n; s++) {
        const char *part = last_part(names[s]);
        if (deck_nearest(last_part(path), 1, &part) != NULL)
            near = names[s];
    }
    return near;
}

void param_unknown_section(struct params *p, const char *path,
                           const struct deck_node *node)
{
    const char *near = near_section(p, path);
    const char *dot = strrchr(path, '.');
    char parent[PARAM_PATH_MAX] = "";

    for (int t = 0; t < p->n_tables; t++)
        if (param_is_choice(p->tables[t]->absent, path, 0)) {
            deck_errors_add(p->errors, node->key_place, 1,
                            "section [%s]: known, but not in this version",
                            path);
            return;
        }
    /* without a solver only slips of the driver's sections can be told */
    if (!p->has_solver && near == NULL)
        return;
    if (dot != NULL)
        snprintf(parent, sizeof parent, "%.*s", (int)(dot - path), path);
    if (param_declared(p, parent, node->key) != NULL)
        deck_errors_add(p->errors, node->key_place, 1,
                        "%s is a key with a value, not a section", path);
    else if (near != NULL)
        deck_errors_add(p->errors, node->key_place, 1,
                        "unknown section [%s]; did you mean [%s]?", path, near);
    else
        deck_errors_add(p->errors, node->key_place, 1,
                        "unknown section [%s]; see warpdeck explain", path);
}
