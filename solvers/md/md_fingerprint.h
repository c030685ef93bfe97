/* md_fingerprint.h: a number that tells one set of tables from another, for
 * checkpoints.
 */
#ifndef WARPDECK_SOLVERS_MD_FINGERPRINT_H
#define WARPDECK_SOLVERS_MD_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t fingerprint_start = UINT64_C(0xcbf29ce484222325);

/* FNV-1a over n bytes more. */
static inline uint64_t mix_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; k < n; k++)
        h = (h ^ b[k]) * UINT64_C(0x100000001b3);
    return h;
}

#endif
