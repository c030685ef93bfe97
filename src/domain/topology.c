/* topology.c: see topology.h.
 *
 * A table from ids to pieces of one long array of terms. What particles leave
 * behind are holes, closed when they make up half of the array.
 */
#include "domain/topology.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/id_table.h"

struct entry {
    int64_t id; /* 0: free, -1: was in use */
    size_t first, n;
};

struct topology {
    struct entry *table;
    size_t capacity; /* or 0; not direct: a power of two */
    int direct;      /* an id is its own place */
    size_t used;     /* entries that are not free, also those left */
    size_t particles;
    struct md_term *terms;
    size_t n_terms, cap_terms, n_holes;
    size_t n_of_kind[MD_TERM_KINDS]; /* of all particles, holes left out */
    struct md_term *out;
    size_t cap_out;
    int changed; /* since topology_terms() */
};

enum { FREE = 0, LEFT = -1 };

int topology_create(struct ctx *ctx, struct topology **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    (*out)->changed = 1;
    return 0;
}

void topology_destroy(struct topology *t)
{
    if (!t)
        return;
    free(t->table);
    free(t->terms);
    free(t->out);
    free(t);
}

size_t topology_bytes(const struct topology *t)
{
    return t->capacity * sizeof *t->table +
           (t->cap_terms + t->cap_out) * sizeof *t->terms;
}

/* ---- the table ---- */

static inline struct entry *find(const struct topology *t, int64_t id)
{
    if (t->direct)
        return (size_t)id < t->capacity && t->table[id].id == id ? &t->table[id]
                                                                 : NULL;
    if (t->capacity == 0)
        return NULL;
    for (size_t k = id_home(id, t->capacity);;
         k = (k + 1) & (t->capacity - 1)) {
        if (t->table[k].id == id)
            return &t->table[k];
        if (t->table[k].id == FREE)
            return NULL;
    }
}

static struct entry *put(struct topology *t, int64_t id)
{
    size_t k = id_place(id, t->capacity, t->direct);
    while (!t->direct && t->table[k].id != FREE)
        k = (k + 1) & (t->capacity - 1);
    t->used++;
    t->table[k] = (struct entry){id, 0, 0};
    return &t->table[k];
}

/* Room for one particle more. Where ids are small enough beside their number
 * each is its own place, and those of a molecule lie side by side; else at most
 * half of the table is in use. */
static int reserve_entry(struct ctx *ctx, struct topology *t, int64_t id)
{
    if (t->direct ? (size_t)id < t->capacity : 2 * (t->used + 1) <= t->capacity)
        return 0;
    size_t capacity = 64, greatest = (size_t)id;
    while (capacity < 4 * (t->particles + 1))
        capacity *= 2;
    struct topology old = *t;
    for (size_t k = 0; k < old.capacity; k++)
        if (old.table[k].id > (int64_t)greatest)
            greatest = (size_t)old.table[k].id;
    t->direct = greatest < 2 * capacity;
    if (t->direct)
        capacity = greatest + greatest / 4 + 1;
    t->table = calloc(capacity, sizeof *t->table);
    if (!t->table) {
        *t = old;
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for the bonds of %zu "
                    "particles",
                    t->particles);
    }
    t->capacity = capacity;
    t->used = 0;
    for (size_t k = 0; k < old.capacity; k++)
        if (old.table[k].id > 0)
            *put(t, old.table[k].id) = old.table[k];
    free(old.table);
    return 0;
}

/* ---- the terms ---- */

static int reserve(struct ctx *ctx, struct md_term **p, size_t *capacity,
                   size_t n)
{
    if (n <= *capacity)
        return 0;
    size_t grown = n + n / 4 + 64;
    struct md_term *fresh = realloc(*p, grown * sizeof *fresh);
    if (!fresh)
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for %zu bonds and other "
                    "terms",
                    grown);
    *p = fresh;
    *capacity = grown;
    return 0;
}

static int by_first(const void *a, const void *b)
{
    const struct entry *p = *(struct entry *const *)a;
    const struct entry *q = *(struct entry *const *)b;
    return p->first < q->first ? -1 : p->first > q->first;
}

/* Close the holes: pieces move down in the order in which they stand. */
static int compact(struct ctx *ctx, struct topology *t)
{
    size_t n = 0, at = 0;
    struct entry **order = malloc((t->particles + 1) * sizeof *order);
    if (!order)
        return FAIL(ctx, STATUS_MEMORY, "no memory to sort bonds");
    for (size_t k = 0; k < t->capacity; k++)
        if (t->table[k].id > 0)
            order[n++] = &t->table[k];
    qsort(order, n, sizeof *order, by_first);
    for (size_t k = 0; k < n; k++) {
        struct entry *e = order[k];
        memmove(t->terms + at, t->terms + e->first, e->n * sizeof *t->terms);
        e->first = at;
        at += e->n;
    }
    free(order);
    t->n_terms = at;
    t->n_holes = 0;
    return 0;
}

int topology_add(struct ctx *ctx, struct topology *t, int64_t id,
                 const struct md_term *terms, size_t n)
{
    if (n == 0)
        return 0;
    t->changed = 1;
    struct entry *e = find(t, id);
    if (!e) {
        TRY(reserve_entry(ctx, t, id));
        e = put(t, id);
        t->particles++;
    }
    int at_end = e->n > 0 && e->first + e->n == t->n_terms;
    size_t old = at_end ? 0 : e->n;
    TRY(reserve(ctx, &t->terms, &t->cap_terms, t->n_terms + old + n));
    if (!at_end) { /* what it has goes along to the end */
        if (old > 0)
            memcpy(t->terms + t->n_terms, t->terms + e->first,
                   old * sizeof *t->terms);
        e->first = t->n_terms;
        t->n_terms += old;
        t->n_holes += old;
    }
    memcpy(t->terms + t->n_terms, terms, n * sizeof *terms);
    for (size_t k = 0; k < n; k++)
        t->n_of_kind[terms[k].kind]++;
    t->n_terms += n;
    e->n += n;
    if (t->n_holes > 1024 && t->n_holes > t->n_terms / 2)
        return compact(ctx, t);
    return 0;
}

static int compare_terms(const void *a, const void *b)
{
    const struct md_term *p = a, *q = b;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    for (int k = 0; k < 4; k++)
        if (p->id[k] != q->id[k])
            return p->id[k] < q->id[k] ? -1 : 1;
    return p->type < q->type ? -1 : p->type > q->type;
}

void topology_sort(struct topology *t)
{
    t->changed = 1;
    for (size_t k = 0; k < t->capacity; k++)
        if (t->table[k].id > 0)
            qsort(t->terms + t->table[k].first, t->table[k].n, sizeof *t->terms,
                  compare_terms);
}

const struct md_term *topology_of(const struct topology *t, int64_t id,
                                  size_t *n)
{
    const struct entry *e = find(t, id);
    *n = e ? e->n : 0;
    return e ? t->terms + e->first : NULL;
}

/* ---- messages: {id, n, terms[n]} ---- */

struct head {
    int64_t id;
    uint64_t n;
};

size_t topology_packed_bytes(const struct topology *t, int64_t id)
{
    const struct entry *e = find(t, id);
    return e ? sizeof(struct head) + e->n * sizeof *t->terms : 0;
}

size_t topology_pack(struct topology *t, int64_t id, void *to)
{
    struct entry *e = find(t, id);
    if (!e)
        return 0;
    struct head head = {id, e->n};
    unsigned char *out = to;
    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, t->terms + e->first, e->n * sizeof *t->terms);
    size_t bytes = sizeof head + e->n * sizeof *t->terms;
    for (size_t k = 0; k < e->n; k++)
        t->n_of_kind[t->terms[e->first + k].kind]--;
    t->n_holes += e->n;
    *e = (struct entry){LEFT, 0, 0};
    t->particles--;
    t->changed = 1;
    return bytes;
}

int topology_unpack(struct ctx *ctx, struct topology *t, const void *from,
                    size_t bytes)
{
    const unsigned char *in = from;
    while (bytes > 0) {
        struct head head;
        if (bytes < sizeof head)
            return FAIL(ctx, STATUS_INTERNAL, "bonds arrived in pieces");
        memcpy(&head, in, sizeof head);
        in += sizeof head;
        bytes -= sizeof head;
        if (head.id < 1 || head.n > bytes / sizeof(struct md_term))
            return FAIL(ctx, STATUS_INTERNAL, "bonds arrived in pieces");
        size_t size = (size_t)head.n * sizeof(struct md_term);
        TRY(topology_add(ctx, t, head.id,
                         (const struct md_term *)(const void *)in,
                         (size_t)head.n));
        in += size;
        bytes -= size;
    }
    return 0;
}

/* ---- each term once ---- */

/* Whether no particle of the term before this one is here. */
static int is_first_here(const struct topology *t, const struct md_term *term,
                         int64_t id)
{
    for (int k = 0; term->id[k] != id; k++)
        if (find(t, term->id[k]))
            return 0;
    return 1;
}

/* How many particles are looked for at a time: those that came lately have
 * their terms in other parts of memory. */
enum { BATCH = 32, CACHE_LINE = 64 };

/* Entries of a batch of particles that have terms; what will be read is asked
 * for beforehand. */
static void find_batch(const struct topology *t, const int64_t *ids, size_t n,
                       const struct entry *found[BATCH])
{
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&t->table[id_place(ids[i], t->capacity, t->direct)]);
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = found[i] = find(t, ids[i]);
        const char *from = (const char *)(t->terms + e->first);
        for (size_t b = 0; b < e->n * sizeof *t->terms; b += CACHE_LINE)
            __builtin_prefetch(from + b);
    }
}

/* Ascending, digit by digit from the last one (Knuth, volume 3, section
 * 5.2.5). */
static void sort_ids(int64_t *ids, int64_t *scratch, size_t n)
{
    enum { DIGIT = 11 };
    int64_t greatest = 0, *from = ids, *to = scratch;
    for (size_t i = 0; i < n; i++)
        greatest = ids[i] > greatest ? ids[i] : greatest;
    for (int shift = 0; shift < 63 && greatest >> shift > 0; shift += DIGIT) {
        size_t first[(1 << DIGIT) + 1] = {0};
        const int64_t mask = (1 << DIGIT) - 1;
        for (size_t i = 0; i < n; i++)
            first[(from[i] >> shift & mask) + 1]++;
        for (int k = 0; k < 1 << DIGIT; k++)
            first[k + 1] += first[k];
        for (size_t i = 0; i < n; i++)
            to[first[from[i] >> shift & mask]++] = from[i];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != ids)
        memcpy(ids, from, n * sizeof *ids);
}

/* The particles that have terms, ascending; scratch is as long as ids. */
static void list_particles(const struct topology *t, int64_t *ids,
                           int64_t *scratch)
{
    size_t n = 0;
    for (size_t k = 0; k < t->capacity; k++)
        if (t->table[k].id > 0)
            ids[n++] = t->table[k].id;
    if (!t->direct)
        sort_ids(ids, scratch, n);
}

/* Each kind's terms from first[kind] on, where there is room for all that
 * particles have; ends[kind]: behind the last one. */
static void list_terms(const struct topology *t, const int64_t *ids,
                       size_t ends[MD_TERM_KINDS])
{
    const struct entry *found[BATCH];
    for (size_t i = 0; i < t->particles; i++) {
        size_t left = t->particles - i;
        if (i % BATCH == 0)
            find_batch(t, ids + i, left < BATCH ? left : BATCH, found);
        const struct entry *e = found[i % BATCH];
        for (size_t k = 0; k < e->n; k++) {
            const struct md_term *term = &t->terms[e->first + k];
            if (is_first_here(t, term, ids[i]))
                t->out[ends[term->kind]++] = *term;
        }
    }
}

int topology_terms(struct ctx *ctx, struct topology *t,
                   const struct md_term **out, size_t *n)
{
    size_t first[MD_TERM_KINDS], ends[MD_TERM_KINDS], room = 0;
    int64_t *ids = malloc((2 * t->particles + 1) * sizeof *ids);
    *n = 0;
    if (!ids)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu ids", t->particles);
    for (int kind = 0; kind < MD_TERM_KINDS; kind++) {
        first[kind] = ends[kind] = room;
        room += t->n_of_kind[kind];
    }
    int status = reserve(ctx, &t->out, &t->cap_out, room);
    if (status == 0) {
        list_particles(t, ids, ids + t->particles);
        list_terms(t, ids, ends);
        for (int kind = 0; kind < MD_TERM_KINDS; kind++) {
            size_t m = ends[kind] - first[kind];
            memmove(t->out + *n, t->out + first[kind], m * sizeof *t->out);
            *n += m;
        }
        t->changed = 0;
    }
    *out = t->out;
    free(ids);
    return status;
}

int topology_changed(const struct topology *t)
{
    return t->changed;
}
