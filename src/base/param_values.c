/* The values of all keys, and where each is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/param_value.h"

/* FNV-1a over the names, ends included, and the index. */
static uint64_t place_of(const char *section, int index, const char *key)
{
    const char *names[] = {section, key};
    uint64_t h = 0xcbf29ce484222325u;

    for (int n = 0; n < 2; n++) {
        const unsigned char *c = (const unsigned char *)names[n];
        do
            h = (h ^ *c) * 0x100000001b3u;
        while (*c++ != 0);
    }
    h = (h ^ (uint64_t)index) * 0x100000001b3u;
    return h ^ h >> 32;
}

struct param_value *param_find(const struct params *p, const char *section,
                               int index, const char *key)
{
    if (p->capacity == 0)
        return NULL;
    size_t mask = 2 * p->capacity - 1;
    for (uint64_t h = place_of(section, index, key);; h++) {
        size_t place = p->places[h & mask];
        if (place == 0)
            return NULL;
        struct param_value *v = &p->values[place - 1];
        if (v->index == index && strcmp(v->param->key, key) == 0 &&
            strcmp(v->param->section, section) == 0)
            return v;
    }
}

/* Into the table, which is never more than half full. */
static void enter(struct params *p, size_t i)
{
    const struct param_value *v = &p->values[i];
    size_t mask = 2 * p->capacity - 1;
    uint64_t h = place_of(v->param->section, v->index, v->param->key);

    while (p->places[h & mask] != 0)
        h++;
    p->places[h & mask] = i + 1;
}

/* Twice the room. Returns 0, or -1 without memory; what is there stays. */
static int grow(struct params *p)
{
    size_t capacity = p->capacity ? 2 * p->capacity : 64;
    size_t *places = calloc(2 * capacity, sizeof *places);
    struct param_value *values =
        places != NULL ? realloc(p->values, capacity * sizeof *values) : NULL;

    if (values == NULL) {
        free(places);
        return -1;
    }
    free(p->places);
    p->places = places;
    p->values = values;
    p->capacity = capacity;
    for (size_t i = 0; i < p->n_values; i++)
        enter(p, i);
    return 0;
}

struct param_value *param_value_new(struct params *p, const struct param *param,
                                    int index)
{
    if (p->n_values == p->capacity && grow(p) != 0) {
        p->no_memory = 1;
        return NULL;
    }
    p->values[p->n_values] =
        (struct param_value){.param = param, .index = index};
    enter(p, p->n_values);
    return &p->values[p->n_values++];
}

void param_value_clear(struct param_value *v)
{
    free(v->text);
    free(v->integers);
    free(v->numbers);
    for (size_t i = 0; v->texts != NULL && i < 2 * v->n; i++)
        free(v->texts[i]);
    free(v->texts);
}

void param_values_destroy(struct params *p)
{
    for (size_t i = 0; i < p->n_values; i++)
        param_value_clear(&p->values[i]);
    free(p->values);
    free(p->places);
}
