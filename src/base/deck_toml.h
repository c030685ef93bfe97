/* deck_toml.h: the C face of the TOML library, for deck.c alone.
 *
 * No exception and no C++ type crosses it.
 */
#ifndef WARPDECK_BASE_DECK_TOML_H
#define WARPDECK_BASE_DECK_TOML_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/deck.h"

struct deck_toml_error {
    int line, column;
    int no_memory;
    char text[512];
};

/* Parse UTF-8 text (no byte order mark). Returns the root table, which the
 * caller owns, or NULL and the error. */
struct deck_node *deck_toml_parse(const char *text, size_t n,
                                  struct deck_toml_error *error);

#ifdef __cplusplus
}
#endif

#endif
