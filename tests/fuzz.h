/* fuzz.h: what tests that change text at random have in common. */
#ifndef WARPDECK_TESTS_FUZZ_H
#define WARPDECK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

/* The first state; any number other than 0 may be added. */
static const uint64_t fuzz_state = 88172645463325252u;

/* A number below n, or 0: Marsaglia's xorshift64*; any fixed sequence will do.
 */
static inline size_t below(uint64_t *state, size_t n)
{
    if (n == 0)
        return 0;
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (size_t)(*state * 2685821657736338717u >> 11) % n;
}

/* Put n bytes in place of `gone` at `at`, where text has TEXT_MAX of them and
 * room; returns the new length. */
static inline size_t splice(char *text, size_t length, size_t at, size_t gone,
                            const char *bytes, size_t n)
{
    if (length - gone + n >= TEXT_MAX)
        return length;
    memmove(text + at + n, text + at + gone, length - at - gone);
    memcpy(text + at, bytes, n);
    return length - gone + n;
}

#endif
