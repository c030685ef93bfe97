/* md_state_box.c: thermostat chains, barostat and box handed out, and taken
 * back.
 */
#include "md.h"

#include "base/ctx.h"
#include "base/error.h"
#include "domain/state.h"

typedef int (*transfer)(struct ctx *, struct state_io *,
                        const struct state_array *);

static int move_chain(struct ctx *ctx, struct state_io *io, transfer move,
                      struct md_chain *c, const char *place, const char *speed)
{
    struct state_array places =
        state_shared(place, STATE_DOUBLE, c->links, c->place);
    struct state_array speeds =
        state_shared(speed, STATE_DOUBLE, c->links, c->speed);
    TRY(move(ctx, io, &places));
    return move(ctx, io, &speeds);
}

/* Both ways. */
static int move_all(struct ctx *ctx, struct state_io *io, transfer move,
                    struct md *md, double length[3])
{
    struct md_barostat *b = &md->barostat;
    double stress[6];
    for (int d = 0; d < 3; d++) {
        stress[d] = md->stress.kinetic[d];
        stress[3 + d] = md->stress.virial[d];
    }
    struct state_array sums =
        state_shared("ensemble/stress", STATE_DOUBLE, 6, stress);
    if (md->chain.links > 0)
        TRY(move_chain(ctx, io, move, &md->chain, "thermostat/place",
                       "thermostat/speed"));
    struct state_array inner =
        state_shared("ensemble/inner", STATE_DOUBLE, 1, &md->stress.inner);
    if (md->chain.links > 0 || b->kind)
        TRY(move(ctx, io, &sums));
    if (md->rigid.on && b->kind)
        TRY(move(ctx, io, &inner));
    for (int d = 0; d < 3; d++) {
        md->stress.kinetic[d] = stress[d];
        md->stress.virial[d] = stress[3 + d];
    }
    TRY(md_open_box_state(ctx, io, md, move == io->put));
    if (!md_box_changes(md))
        return 0;
    struct state_array arrays[] = {
        state_shared("box/length", STATE_DOUBLE, 3, length),
        state_shared("box/listed", STATE_DOUBLE, 3, b->listed),
        state_shared("barostat/rate", STATE_DOUBLE, 3, b->rate),
        state_shared("barostat/work", STATE_DOUBLE, 1, &b->work)};
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++)
        TRY(move(ctx, io, &arrays[a]));
    TRY(md_deform_state(ctx, io, md, move == io->put));
    if (b->chain.links > 0)
        return move_chain(ctx, io, move, &b->chain, "barostat/place",
                          "barostat/speed");
    return 0;
}

int md_save_box(struct ctx *ctx, struct md *md, struct state_io *io)
{
    return move_all(ctx, io, io->put, md, md->box_length);
}

int md_restore_box(struct ctx *ctx, struct md *md, struct state_io *io)
{
    double length[3];
    for (int d = 0; d < 3; d++)
        length[d] = md->box_length[d];
    md_ramp_temperature(md); /* before what it adds to is taken back */
    TRY(move_all(ctx, io, io->get, md, length));
    if (md_volume_changes(md) && !md_box_changes(md))
        md_fit_grid(md);
    if (!md_box_changes(md))
        return 0;
    for (int d = 0; d < 3; d++)
        md->box_length[d] = length[d];
    md_fit_grid(md);
    md_pair_tail(md);
    const char *why = md_blocked(md);
    return why ? FAIL(ctx, STATUS_INPUT, "%s", why) : 0;
}
