/* exchange.h: carries what a fluid store has to say to the ranks it names.
 *
 * A store packs its messages and names its partners by their coordinate along y
 * or z (struct fluid_transfer); this file knows which ranks these are and
 * sends. The partners of each kind of transfer are fixed, so the connection of
 * a kind is made once, at its first use.
 */
#ifndef WARPDECK_DOMAIN_EXCHANGE_H
#define WARPDECK_DOMAIN_EXCHANGE_H

#include "kernels/fluid/fluid_kernels.h"

struct block;
struct ctx;
struct exchange;

/* For the ranks of a block. The caller owns *out. Errors: STATUS_MEMORY. */
int exchange_create(struct ctx *ctx, const struct block *block,
                    struct exchange **out);
void exchange_destroy(struct exchange *x); /* NULL is fine */

/* Start the messages of one kind. Other kinds may be on their way at the same
 * time. Collective over the ranks along the axis, also those without partners.
 * Errors: STATUS_MPI, STATUS_MEMORY. */
int exchange_post(struct ctx *ctx, struct exchange *x, enum fluid_exchange kind,
                  const struct fluid_transfer *t);
int exchange_wait(struct ctx *ctx, struct exchange *x,
                  enum fluid_exchange kind);

#endif
