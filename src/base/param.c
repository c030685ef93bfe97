#include "base/param.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param_value.h"

/* ---- the tables ---- */

const struct param *param_declared(const struct params *p, const char *section,
                                   const char *key)
{
    /* the solver's word before the driver's */
    for (int t = p->n_tables - 1; t >= 0; t--)
        for (const struct param *q = p->tables[t]->params; q->section != NULL;
             q++)
            if (strcmp(q->section, section) == 0 && strcmp(q->key, key) == 0)
                return q;
    return NULL;
}

const struct param *param_next(const struct params *p, const char *section,
                               const struct param *q)
{
    int t = 0, found = q == NULL;

    for (; t < p->n_tables; t++)
        for (const struct param *r = p->tables[t]->params; r->section != NULL;
             r++) {
            if (found && strcmp(r->section, section) == 0 &&
                param_declared(p, section, r->key) == r)
                return r;
            found |= r == q;
        }
    return NULL;
}

/* The key that a section's bare value means, or NULL. */
static const struct param *word_key(const struct params *p, const char *section)
{
    const struct param *q = NULL;

    while ((q = param_next(p, section, q)) != NULL)
        if (q->flags & PARAM_WORD)
            return q;
    return NULL;
}

struct param_standing *param_standing(const struct params *p, const char *name)
{
    for (size_t s = 0; s < p->n_sections; s++)
        if (strcmp(p->sections[s].name, name) == 0)
            return &p->sections[s];
    return NULL;
}

static void declare_section(struct params *p, const char *name, int repeated,
                            int optional)
{
    struct param_standing *grown, *there = param_standing(p, name);

    if (there != NULL)
        there->optional &= optional;
    if (p->no_memory || there != NULL)
        return;
    grown = realloc(p->sections, (p->n_sections + 1) * sizeof *grown);
    if (grown == NULL) {
        p->no_memory = 1;
        return;
    }
    p->sections = grown;
    p->sections[p->n_sections++] = (struct param_standing){
        .name = name, .repeated = repeated, .optional = optional};
}

static void add_table(struct params *p, const struct param_table *table)
{
    p->tables[p->n_tables++] = table;
    for (const struct param_section *s = table->sections;
         s != NULL && s->name != NULL; s++)
        declare_section(p, s->name, s->repeated, s->optional);
    for (const struct param *q = table->params; q->section != NULL; q++)
        if (param_standing(p, q->section) == NULL)
            declare_section(p, q->section, 0, 0);
}

/* Whether declared sections lie below `path`. */
static int leads_to_section(const struct params *p, const char *path)
{
    size_t length = strlen(path);

    for (size_t s = 0; s < p->n_sections; s++)
        if (strncmp(p->sections[s].name, path, length) == 0 &&
            p->sections[s].name[length] == '.')
            return 1;
    return 0;
}

void param_default(struct params *p, struct param_value *v)
{
    char why[256];
    struct deck_node *node =
        deck_parse_value(v->param->fallback, why, sizeof why);

    if (node != NULL)
        param_convert(p, node, v);
    if (node == NULL || !v->present)
        snprintf(p->misuse, PARAM_PATH_MAX, "the default of %s.%s",
                 v->param->section, v->param->key);
    deck_node_destroy(node);
}

/* ---- the walk through the deck ---- */

static void walk_section(struct params *p, const char *path, int index,
                         const struct deck_node *table);

static void section_stands(struct params *p, struct param_standing *s,
                           const struct deck_node *node)
{
    struct deck_place *grown =
        realloc(s->place, (size_t)(s->count + 1) * sizeof *grown);

    if (grown == NULL) {
        p->no_memory = 1;
        return;
    }
    s->place = grown;
    s->place[s->count] = node->place.line > 0 || node->place.override > 0
                             ? node->place
                             : node->key_place;
    s->count++;
}

static void walk_repeated(struct params *p, struct param_standing *s,
                          const struct deck_node *node)
{
    if (node->kind != DECK_ARRAY || !node->is_tables) {
        deck_errors_add(p->errors, node->key_place, 1,
                        "%s is a list of sections; write [[%s]]", s->name,
                        s->name);
        return;
    }
    for (const struct deck_node *e = node->first; e != NULL; e = e->next) {
        int index = s->count;
        section_stands(p, s, e);
        walk_section(p, s->name, index, e);
    }
}

static void read_key(struct params *p, const struct param *param, int index,
                     const struct deck_node *node)
{
    struct param_value *v = param_value_new(p, param, index);

    if (v == NULL)
        return;
    v->is_set = 1;
    v->place = node->place;
    param_convert(p, node, v);
}

static void walk_child(struct params *p, const char *path,
                       const struct deck_node *node)
{
    struct param_standing *s = param_standing(p, path);
    const struct param *word = s != NULL ? word_key(p, path) : NULL;

    if (s == NULL && !leads_to_section(p, path)) {
        param_unknown_section(p, path, node);
    } else if (s != NULL && s->repeated) {
        walk_repeated(p, s, node);
    } else if (node->kind < DECK_ARRAY && word != NULL) {
        section_stands(p, s, node);
        read_key(p, word, 0, node);
    } else if (node->kind != DECK_TABLE) {
        deck_errors_add(p->errors, node->key_place, 1,
                        "%s is a section that stands once; write [%s]", path,
                        path);
    } else {
        if (s != NULL)
            section_stands(p, s, node);
        walk_section(p, path, 0, node);
    }
}

static void walk_section(struct params *p, const char *path, int index,
                         const struct deck_node *table)
{
    for (const struct deck_node *n = table->first; n != NULL; n = n->next) {
        const struct param *param = param_declared(p, path, n->key);
        char below[PARAM_PATH_MAX];
        int length = snprintf(below, sizeof below, "%s%s%s", path,
                              path[0] != '\0' ? "." : "", n->key);
        int is_section =
            n->kind == DECK_TABLE || (n->kind == DECK_ARRAY && n->is_tables);

        if (param != NULL && n->kind != DECK_TABLE)
            read_key(p, param, index, n);
        else if (length >= (int)sizeof below)
            deck_errors_add(p->errors, n->key_place, 1, "unknown key");
        else if (is_section || param_standing(p, below) != NULL)
            walk_child(p, below, n);
        else if (p->has_solver || path[0] == '\0' || strcmp(path, "run") == 0)
            param_unknown_key(p, path, n);
    }
}

/* ---- what is missing ---- */

static int is_required(const struct params *p, const struct param *param)
{
    return (param->flags & PARAM_REQUIRED) ||
           ((param->flags & PARAM_DEFAULT_LJ) && p->units != UNITS_LJ &&
            !p->units_wrong);
}

static void complain_missing(struct params *p, const struct param *param,
                             struct deck_place where)
{
    char list[256] = "";

    if (param->choices != NULL)
        param_list_choices(param->choices, list, sizeof list);
    deck_errors_add(p->errors, where, where.line > 0,
                    "%s.%s is missing%s%s: %s", param->section, param->key,
                    list[0] ? "; one of " : "", list, param->help);
}

static void complete_section(struct params *p, const struct param_standing *s,
                             int index)
{
    const int stands = index < s->count;
    const struct deck_place where =
        stands ? s->place[index] : (struct deck_place){0, 0, 0};

    const struct param *q = NULL;

    while ((q = param_next(p, s->name, q)) != NULL) {
        struct param_value *v;
        if (param_find(p, q->section, index, q->key) != NULL)
            continue;
        if (is_required(p, q) && (stands || !s->optional))
            complain_missing(p, q, where);
        v = param_value_new(p, q, index);
        if (v != NULL && param_has_default(q) && !is_required(p, q))
            param_default(p, v);
    }
}

static void complete(struct params *p)
{
    for (size_t i = 0; i < p->n_sections; i++) {
        const struct param_standing *s = &p->sections[i];
        int n = s->repeated ? s->count : 1;

        if (s->repeated && !s->optional && s->count == 0)
            deck_errors_add(p->errors, (struct deck_place){0, 0, 0}, 0,
                            "at least one section [[%s]] is needed", s->name);
        for (int index = 0; index < n && !p->no_memory; index++)
            complete_section(p, s, index);
    }
}

/* ---- reading ---- */

static void find_units(struct params *p)
{
    struct deck_node *units =
        deck_find(deck_find(p->deck->root, "run"), "units");

    p->units = UNITS_LJ;
    p->units_wrong =
        units != NULL && (units->kind != DECK_STRING ||
                          unit_system_parse(units->text, &p->units) != 0);
    if (p->units_wrong)
        p->units = UNITS_SI;
}

static void apply_overrides(struct params *p)
{
    for (int i = 0; i < p->n_overrides; i++) {
        char why[256];
        if (deck_override(p->deck, p->overrides[i], i + 1, why, sizeof why) !=
            0)
            deck_errors_add(p->errors, (struct deck_place){0, 0, i + 1}, 0,
                            "%s", why);
    }
}

/* The folder of a path, "." where it names none. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int copy_overrides(struct params *p, int n, const char *const *overrides)
{
    p->overrides = calloc((size_t)n + 1, sizeof *p->overrides);
    if (p->overrides == NULL)
        return -1;
    for (int i = 0; i < n; i++) {
        p->overrides[i] = strdup(overrides[i]);
        if (p->overrides[i] == NULL)
            return -1;
        p->n_overrides++;
    }
    return 0;
}

/* Takes over the deck, also on failure. */
static int check_deck(struct ctx *ctx, struct deck *deck, int n_overrides,
                      const char *const *overrides,
                      const struct param_table *driver,
                      const struct param_table *(*select)(const char *, void *),
                      void *user, struct params **out)
{
    struct params *p = calloc(1, sizeof *p);
    const struct param_table *solver = NULL;
    struct deck_node *name;

    *out = p;
    if (p == NULL) {
        deck_destroy(deck);
        return FAIL(ctx, STATUS_MEMORY, "no memory for the parameters");
    }
    p->deck = deck;
    p->errors = deck_errors_create();
    p->folder = folder_of(deck->path);
    p->misuse = calloc(1, PARAM_PATH_MAX);
    if (p->errors == NULL || p->folder == NULL || p->misuse == NULL ||
        copy_overrides(p, n_overrides, overrides) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the parameters");
    deck->overrides = (const char *const *)p->overrides;

    apply_overrides(p);
    find_units(p);
    add_table(p, driver);
    name = deck_find(deck_find(deck->root, "run"), "solver");
    if (name != NULL && name->kind == DECK_STRING && select != NULL)
        solver = select(name->text, user);
    if (solver != NULL)
        add_table(p, solver);
    p->has_solver = solver != NULL || select == NULL;
    walk_section(p, "", 0, deck->root);
    complete(p);
    return params_finish(ctx, p);
}

int params_read(struct ctx *ctx, const char *path, int n_overrides,
                const char *const *overrides, const struct param_table *driver,
                const struct param_table *(*select)(const char *solver,
                                                    void *user),
                void *user, struct params **out)
{
    struct deck *deck = NULL;
    int status;

    *out = NULL;
    TRY(deck_read(ctx, path, &deck));
    status = comm_agree(ctx, check_deck(ctx, deck, n_overrides, overrides,
                                        driver, select, user, out));
    if (status != 0) {
        params_destroy(*out);
        *out = NULL;
    }
    return status;
}

int params_parse(struct ctx *ctx, const char *path, const char *text, size_t n,
                 int n_overrides, const char *const *overrides,
                 const struct param_table *driver,
                 const struct param_table *(*select)(const char *solver,
                                                     void *user),
                 void *user, struct params **out)
{
    struct deck *deck = NULL;
    int status;

    *out = NULL;
    TRY(deck_parse(ctx, path, text, n, &deck));
    status = check_deck(ctx, deck, n_overrides, overrides, driver, select, user,
                        out);
    if (status != 0) {
        params_destroy(*out);
        *out = NULL;
    }
    return status;
}

void params_destroy(struct params *p)
{
    if (p == NULL)
        return;
    param_values_destroy(p);
    for (size_t s = 0; s < p->n_sections; s++)
        free(p->sections[s].place);
    free(p->sections);
    for (int i = 0; i < p->n_overrides; i++)
        free(p->overrides[i]);
    free(p->overrides);
    deck_errors_destroy(p->errors);
    deck_destroy(p->deck);
    free(p->folder);
    free(p->resolved);
    free(p->misuse);
    free(p);
}

int params_finish(struct ctx *ctx, struct params *p)
{
    if (p->no_memory)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the parameters");
    if (p->misuse[0] != '\0')
        return FAIL(ctx, STATUS_INTERNAL, "parameter tables: %s", p->misuse);
    return deck_errors_finish(ctx, p->deck, p->errors);
}
