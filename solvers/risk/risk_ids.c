/* risk_ids.c: room for positions, and their ids by hash: a book of a hundred
 * thousand positions is read in a moment.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "solvers/risk/risk.h"

int32_t *risk_portfolio_find(const struct risk_portfolio *all, const char *id)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    if (all->n_slots == 0)
        return NULL;
    for (const char *c = id; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    size_t at = (size_t)(h ^ h >> 32) & (all->n_slots - 1);
    while (all->slots[at] > 0 &&
           strcmp(all->positions[all->slots[at] - 1].id, id) != 0)
        at = (at + 1) & (all->n_slots - 1);
    return &all->slots[at];
}

int risk_portfolio_grow(struct ctx *ctx, struct risk_portfolio *all)
{
    /* In powers of two, so that no count has to be kept. */
    if ((all->n & (all->n + 1)) != 0)
        return 0;
    size_t room = 2 * (size_t)all->n + 2;
    struct risk_position *more =
        realloc(all->positions, room * sizeof *all->positions);
    if (more == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the portfolio");
    all->positions = more;
    free(all->slots);
    all->n_slots = 8;
    while (all->n_slots < 2 * room)
        all->n_slots *= 2;
    all->slots = calloc(all->n_slots, sizeof *all->slots);
    if (all->slots == NULL) {
        all->n_slots = 0;
        return FAIL(ctx, STATUS_MEMORY, "no memory for the portfolio");
    }
    for (int32_t i = 0; i < all->n; i++)
        *risk_portfolio_find(all, all->positions[i].id) = i + 1;
    return 0;
}
