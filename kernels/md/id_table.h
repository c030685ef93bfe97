/* id_table.h: where ids are looked for: in a table with open addressing, or in
 * an array in ascending order. */
#ifndef WARPDECK_KERNELS_MD_ID_TABLE_H
#define WARPDECK_KERNELS_MD_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* The first place of an id among `capacity`, a power of two; if it is taken the
 * next ones follow. Fibonacci hashing (Knuth, volume 3, section 6.4) of blocks
 * of eight ids: those of one molecule mostly follow one another, and are looked
 * for together. */
static inline size_t id_home(int64_t id, size_t capacity)
{
    uint64_t h = ((uint64_t)id >> 3) * UINT64_C(0x9e3779b97f4a7c15);
    return ((size_t)(h >> 20) << 3 | ((size_t)id & 7)) & (capacity - 1);
}

/* The same of a table that may be direct, where an id is its own place; then it
 * must be below the capacity, which is any. */
static inline size_t id_place(int64_t id, size_t capacity, int direct)
{
    return direct ? (size_t)id : id_home(id, capacity);
}

/* Of ids for qsort() and bsearch(). */
static inline int compare_ids(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

#endif
