/* topology.c: see topology.h.
 *
 * A table from ids to pieces of one long array of terms. What particles leave
 * behind are holes: those that come take a hole of their size, and all are
 * closed when they make up half of the array.
 *
 * The list of all terms is kept in order. Where few particles have come or gone
 * since it was made, their terms alone are looked at again.
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

/* An array of terms that grows. */
struct terms {
    struct md_term *all;
    size_t n, capacity;
};

/* Holes of up to so many terms are taken again. */
enum { HOLE_SIZES = 64 };

struct topology {
    struct entry *table;
    size_t capacity; /* or 0; not direct: a power of two */
    int direct;      /* an id is its own place */
    size_t used;     /* entries that are not free, also those left */
    size_t particles;
    struct terms terms;
    size_t n_holes;
    /* The first hole of each size, + 1; in its first id stands the next. */
    size_t hole[HOLE_SIZES];
    struct terms out, next; /* what was listed last; room for the next list */
    struct terms touched;   /* terms of those that came or went since then */
    int anew;               /* too many did: list all terms anew */
};

enum { FREE = 0, LEFT = -1 };

int topology_create(struct ctx *ctx, struct topology **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    (*out)->anew = 1;
    return 0;
}

void topology_destroy(struct topology *t)
{
    if (!t)
        return;
    free(t->table);
    free(t->terms.all);
    free(t->out.all);
    free(t->next.all);
    free(t->touched.all);
    free(t);
}

size_t topology_bytes(const struct topology *t)
{
    return t->capacity * sizeof *t->table +
           (t->terms.capacity + t->out.capacity + t->next.capacity +
            t->touched.capacity) *
               sizeof(struct md_term);
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

/* Room for n terms. 0, or -1 without memory. */
static int grow(struct terms *t, size_t n)
{
    if (n <= t->capacity)
        return 0;
    size_t grown = n + n / 4 + 64;
    struct md_term *fresh = realloc(t->all, grown * sizeof *fresh);
    if (!fresh)
        return -1;
    t->all = fresh;
    t->capacity = grown;
    return 0;
}

static int reserve(struct ctx *ctx, struct terms *t, size_t n)
{
    if (grow(t, n) == 0)
        return 0;
    return FAIL(ctx, STATUS_MEMORY, "no memory for %zu bonds and other terms",
                n);
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
    struct md_term *terms = t->terms.all;
    struct entry **order = malloc((t->particles + 1) * sizeof *order);
    if (!order)
        return FAIL(ctx, STATUS_MEMORY, "no memory to sort bonds");
    for (size_t k = 0; k < t->capacity; k++)
        if (t->table[k].id > 0)
            order[n++] = &t->table[k];
    qsort(order, n, sizeof *order, by_first);
    for (size_t k = 0; k < n; k++) {
        struct entry *e = order[k];
        memmove(terms + at, terms + e->first, e->n * sizeof *terms);
        e->first = at;
        at += e->n;
    }
    free(order);
    t->terms.n = at;
    t->n_holes = 0;
    memset(t->hole, 0, sizeof t->hole);
    return 0;
}

static void leave_hole(struct topology *t, size_t first, size_t n)
{
    t->n_holes += n;
    if (n == 0 || n >= HOLE_SIZES)
        return;
    t->terms.all[first].id[0] = (int64_t)t->hole[n];
    t->hole[n] = first + 1;
}

/* Where n terms may stand: in a hole, or at the end. */
static int find_room(struct ctx *ctx, struct topology *t, size_t n,
                     size_t *first)
{
    if (n < HOLE_SIZES && t->hole[n] > 0) {
        *first = t->hole[n] - 1;
        t->hole[n] = (size_t)t->terms.all[*first].id[0];
        t->n_holes -= n;
        return 0;
    }
    TRY(reserve(ctx, &t->terms, t->terms.n + n));
    *first = t->terms.n;
    t->terms.n += n;
    return 0;
}

/* These have come or gone, or one of their particles has. */
static void touch(struct topology *t, const struct md_term *terms, size_t n)
{
    struct terms *touched = &t->touched;
    if (t->anew)
        return;
    if (touched->n + n > t->out.n / 8 + 64 ||
        grow(touched, touched->n + n) != 0) {
        t->anew = 1;
        return;
    }
    memcpy(touched->all + touched->n, terms, n * sizeof *terms);
    touched->n += n;
}

int topology_add(struct ctx *ctx, struct topology *t, int64_t id,
                 const struct md_term *terms, size_t n)
{
    if (n == 0)
        return 0;
    touch(t, terms, n);
    struct entry *e = find(t, id);
    if (!e) {
        TRY(reserve_entry(ctx, t, id));
        e = put(t, id);
        t->particles++;
    }
    if (e->n > 0 && e->first + e->n == t->terms.n) {
        TRY(reserve(ctx, &t->terms, t->terms.n + n));
        t->terms.n += n;
    } else { /* what it has goes along */
        size_t first;
        TRY(find_room(ctx, t, e->n + n, &first));
        if (e->n > 0)
            memcpy(t->terms.all + first, t->terms.all + e->first,
                   e->n * sizeof *terms);
        leave_hole(t, e->first, e->n);
        e->first = first;
    }
    memcpy(t->terms.all + e->first + e->n, terms, n * sizeof *terms);
    e->n += n;
    if (t->n_holes > 1024 && t->n_holes > t->terms.n / 2)
        return compact(ctx, t);
    return 0;
}

static int compare_terms(const void *a, const void *b)
{
    const struct md_term *p = a, *q = b;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    for (int k = 0; k < MD_TERM_MOST; k++)
        if (p->id[k] != q->id[k])
            return p->id[k] < q->id[k] ? -1 : 1;
    return p->type < q->type ? -1 : p->type > q->type;
}

void topology_sort(struct topology *t)
{
    t->anew = 1;
    for (size_t k = 0; k < t->capacity; k++)
        if (t->table[k].id > 0)
            qsort(t->terms.all + t->table[k].first, t->table[k].n,
                  sizeof *t->terms.all, compare_terms);
}

const struct md_term *topology_of(const struct topology *t, int64_t id,
                                  size_t *n)
{
    const struct entry *e = find(t, id);
    *n = e ? e->n : 0;
    return e ? t->terms.all + e->first : NULL;
}

/* ---- messages: {id, n, terms[n]} ---- */

struct head {
    int64_t id;
    uint64_t n;
};

size_t topology_packed_bytes(const struct topology *t, int64_t id)
{
    const struct entry *e = find(t, id);
    return e ? sizeof(struct head) + e->n * sizeof *t->terms.all : 0;
}

size_t topology_pack(struct topology *t, int64_t id, void *to)
{
    struct entry *e = find(t, id);
    if (!e)
        return 0;
    struct head head = {id, e->n};
    const struct md_term *terms = t->terms.all + e->first;
    unsigned char *out = to;
    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, terms, e->n * sizeof *terms);
    touch(t, terms, e->n);
    leave_hole(t, e->first, e->n);
    *e = (struct entry){LEFT, 0, 0};
    t->particles--;
    return sizeof head + head.n * sizeof *terms;
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

/* All terms, from one particle after another. Where an id is its own place they
 * are nearly in order then, and mostly wholly so. */
static int list_anew(struct ctx *ctx, struct topology *t)
{
    struct terms *out = &t->out;
    TRY(reserve(ctx, out, t->terms.n - t->n_holes));
    out->n = 0;
    for (size_t i = 0; i < t->capacity; i++) {
        const struct entry *e = &t->table[i];
        for (size_t k = e->first; k < e->first + e->n; k++)
            if (is_first_here(t, &t->terms.all[k], e->id))
                out->all[out->n++] = t->terms.all[k];
    }
    for (size_t k = 1; k < out->n; k++)
        if (compare_terms(&out->all[k - 1], &out->all[k]) > 0) {
            qsort(out->all, out->n, sizeof *out->all, compare_terms);
            break;
        }
    return 0;
}

/* How many of this term there are: a particle may have two that are alike. */
static size_t count_here(const struct topology *t, const struct md_term *term)
{
    const struct entry *e = NULL;
    size_t n = 0;
    for (int k = 0; k < md_term_size(term->kind) && !e; k++)
        e = find(t, term->id[k]);
    for (size_t k = 0; e && k < e->n; k++)
        n += compare_terms(&t->terms.all[e->first + k], term) == 0;
    return n;
}

/* The first of the ordered terms from `from` on that is not before this one. */
static size_t place_of(const struct terms *t, size_t from,
                       const struct md_term *term)
{
    size_t below = from, above = t->n;
    while (below < above) {
        size_t middle = below + (above - below) / 2;
        if (compare_terms(&t->all[middle], term) < 0)
            below = middle + 1;
        else
            above = middle;
    }
    return below;
}

/* The last list, but for those terms that were touched. */
static int list_touched(struct ctx *ctx, struct topology *t)
{
    struct terms *out = &t->out, *next = &t->next, *touched = &t->touched;
    TRY(reserve(ctx, next, out->n + touched->n));
    qsort(touched->all, touched->n, sizeof *touched->all, compare_terms);
    size_t from = 0;
    next->n = 0;
    for (size_t k = 0; k <= touched->n; k++) {
        const struct md_term *term = &touched->all[k];
        int end = k == touched->n;
        if (!end && k > 0 && compare_terms(term - 1, term) == 0)
            continue;
        size_t to = end ? out->n : place_of(out, from, term);
        if (to > from)
            memcpy(next->all + next->n, out->all + from,
                   (to - from) * sizeof *out->all);
        next->n += to - from;
        for (from = to; !end && from < out->n &&
                        compare_terms(&out->all[from], term) == 0;)
            from++;
        for (size_t n = end ? 0 : count_here(t, term); n > 0; n--)
            next->all[next->n++] = *term;
    }
    struct terms swap = *out;
    *out = *next;
    *next = swap;
    return 0;
}

int topology_terms(struct ctx *ctx, struct topology *t,
                   const struct md_term **out, size_t *n)
{
    *n = 0;
    if (t->anew)
        TRY(list_anew(ctx, t));
    else if (t->touched.n > 0)
        TRY(list_touched(ctx, t));
    t->anew = 0;
    t->touched.n = 0;
    *out = t->out.all;
    *n = t->out.n;
    return 0;
}

int topology_changed(const struct topology *t)
{
    return t->anew || t->touched.n > 0;
}
