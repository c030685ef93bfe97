#include "driver/phases.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"

static double seconds_of(const struct timers *t, const char *name)
{
    for (int i = 0; i < timer_count(t); i++)
        if (strcmp(timer_name(t, i), name) == 0)
            return timer_seconds(t, i);
    return 0;
}

/* Ranks may know their phases in another order; rank 0's names count. */
static int gather_names(struct ctx *ctx, struct phases *p)
{
    if (comm_rank(ctx->comm) == 0) {
        int n = timer_count(ctx->timers);
        p->n = n < PHASES_SHOWN_MAX - 1 ? n : PHASES_SHOWN_MAX - 1;
        for (int i = 0; i < p->n; i++)
            snprintf(p->name[i], sizeof(p->name[i]), "%s",
                     timer_name(ctx->timers, i));
    }
    TRY(comm_bcast(ctx, &p->n, sizeof(p->n)));
    return comm_bcast(ctx, p->name, sizeof(p->name));
}

static void swap(struct phases *p, int i, int j)
{
    struct phases old = *p;
    memcpy(p->name[i], old.name[j], sizeof(p->name[i]));
    memcpy(p->name[j], old.name[i], sizeof(p->name[j]));
    p->mean[i] = old.mean[j];
    p->mean[j] = old.mean[i];
    p->greatest[i] = old.greatest[j];
    p->greatest[j] = old.greatest[i];
}

static void sort(struct phases *p)
{
    for (int i = 1; i < p->n; i++)
        for (int j = i; j > 0 && p->mean[j] > p->mean[j - 1]; j--)
            swap(p, j, j - 1);
    while (p->n > 0 && !(p->mean[p->n - 1] > 0))
        p->n--;
}

int phases_gather(struct ctx *ctx, double seconds, struct phases *out)
{
    struct phases *p = out;
    int ranks = comm_size(ctx->comm);
    *p = (struct phases){0};
    TRY(comm_max_double(ctx, &seconds, 1));
    p->seconds = seconds;
    TRY(gather_names(ctx, p));
    double claimed = 0;
    for (int i = 0; i < p->n; i++) {
        p->mean[i] = p->greatest[i] = seconds_of(ctx->timers, p->name[i]);
        claimed += p->mean[i];
    }
    int last = p->n;
    p->mean[last] = p->greatest[last] =
        seconds > claimed ? seconds - claimed : 0;
    TRY(comm_sum_double(ctx, p->mean, last + 1));
    TRY(comm_max_double(ctx, p->greatest, last + 1));
    for (int i = 0; i <= last; i++)
        p->mean[i] /= ranks;
    sort(p);
    snprintf(p->name[last], sizeof(p->name[last]), "other");
    if (last != p->n)
        swap(p, last, p->n);
    p->n++;
    return 0;
}

void phases_print(struct ctx *ctx, const struct phases *p)
{
    char names[512] = "", shares[512] = "", ratios[512] = "";
    size_t a = 0, b = 0, c = 0;
    for (int i = 0; i < p->n && a < sizeof(names) - 32; i++) {
        int width = (int)strlen(p->name[i]);
        width = (width > 6 ? width : 6) + 2;
        double share = p->seconds > 0 ? 100 * p->mean[i] / p->seconds : 0;
        double ratio = p->mean[i] > 0 ? p->greatest[i] / p->mean[i] : 1;
        a += (size_t)snprintf(names + a, sizeof(names) - a, "%*s", width,
                              p->name[i]);
        b += (size_t)snprintf(shares + b, sizeof(shares) - b, "%*.*f %%",
                              width - 2, share < 9.95 ? 1 : 0, share);
        c += (size_t)snprintf(ratios + c, sizeof(ratios) - c, "%*.2f", width,
                              ratio);
    }
    log_info(ctx->log, "  phase    %s", names);
    log_info(ctx->log, "  time     %s", shares);
    if (comm_size(ctx->comm) > 1)
        log_info(ctx->log, "  max/mean %s", ratios);
}
