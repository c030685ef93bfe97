/* transfer.c: whether MPI gets pointers to the memory of cards. */
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "kernels/device.h"

enum device_transfer device_plan_transfer(const char *wanted, int takes)
{
    if (strcmp(wanted, "staged") == 0)
        return TRANSFER_STAGED;
    if (strcmp(wanted, "direct") == 0)
        return takes == 0 ? TRANSFER_REFUSED : TRANSFER_TRY;
    /* An MPI that does not know cards would read the pointer and crash: only
     * where it says that it does is it tried unasked. */
    return takes == 1 ? TRANSFER_TRY : TRANSFER_STAGED;
}

static int refuse(struct ctx *ctx, const char *why)
{
    return FAIL(ctx, STATUS_UNSUPPORTED,
                "run.gpu_transfer = \"direct\" cannot be used: %s; use "
                "\"staged\" or \"auto\"",
                why);
}

int device_choose_transfer(struct ctx *ctx, struct device *d,
                           const char *wanted)
{
    int takes = comm_takes_card_memory(), works = 0;
    d->direct = 0;
    if (!d->try_direct || comm_size(ctx->comm) == 1)
        return 0;
    switch (device_plan_transfer(wanted, takes)) {
    case TRANSFER_STAGED:
        log_verbose(ctx->log, "messages between cards go through the host%s",
                    strcmp(wanted, "staged") == 0
                        ? ", as the deck says"
                        : ": this MPI does not say that it takes their memory");
        return 0;
    case TRANSFER_REFUSED:
        return refuse(ctx, "this MPI library does not take memory of cards (it "
                           "is not CUDA-aware)");
    case TRANSFER_TRY:
        break;
    }
    TRY(d->try_direct(ctx, &works));
    if (!works && strcmp(wanted, "direct") == 0)
        return refuse(ctx, "a message from card to card did not arrive as it "
                           "was sent");
    if (works)
        log_verbose(ctx->log, "messages go from card to card");
    else
        log_info(ctx->log, "messages between cards go through the host: MPI "
                           "says that it takes their memory, but a message did "
                           "not arrive as it was sent");
    d->direct = works;
    return 0;
}
