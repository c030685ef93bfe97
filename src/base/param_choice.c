/* The words that a key may have, of a table's "cpu|cuda|-later": those behind a
 * '-' are known, but not there. */
#include "base/param_value.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *param_choice(const char *choices, int i, int absent, size_t *n)
{
    for (const char *c = choices; c != NULL && *c != '\0';) {
        int is_absent = *c == '-';
        c += is_absent;
        *n = strcspn(c, "|");
        if (is_absent == absent && i-- == 0)
            return c;
        c += *n + (c[*n] == '|');
    }
    return NULL;
}

int param_is_choice(const char *choices, const char *word, int absent)
{
    const char *c;
    size_t n;

    for (int i = 0; (c = param_choice(choices, i, absent, &n)) != NULL; i++)
        if (n == strlen(word) && memcmp(c, word, n) == 0)
            return 1;
    return 0;
}

const char *param_list_choices(const char *choices, char *buf, size_t size)
{
    const char *c;
    size_t n, used = 0;

    buf[0] = '\0';
    for (int i = 0; (c = param_choice(choices, i, 0, &n)) && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s\"%.*s\"",
                                 i > 0 ? ", " : "", (int)n, c);
    return buf;
}

const char *param_near_choice(const char *choices, const char *word, char *buf,
                              size_t size)
{
    const char *c, *found = NULL;
    size_t n;

    for (int i = 0; (c = param_choice(choices, i, 0, &n)) != NULL; i++) {
        char name[64];
        const char *names[2] = {name, found};
        snprintf(name, sizeof name, "%.*s", (int)n, c);
        if (strcasecmp(word, name) == 0) {
            snprintf(buf, size, "%s", name);
            return buf;
        }
        if (deck_nearest(word, found != NULL ? 2 : 1, names) == name) {
            snprintf(buf, size, "%s", name);
            found = buf;
        }
    }
    return found;
}
