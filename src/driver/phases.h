/* phases.h: the time of all ranks by phase. */
#ifndef WARPDECK_DRIVER_PHASES_H
#define WARPDECK_DRIVER_PHASES_H

struct ctx;

enum { PHASES_SHOWN_MAX = 32, PHASE_NAME_MAX = 24 };

/* Shares of `seconds` over the ranks, greatest first; what no phase claims is
 * the last one, "other". */
struct phases {
    int n;
    char name[PHASES_SHOWN_MAX][PHASE_NAME_MAX];
    double mean[PHASES_SHOWN_MAX];     /* seconds */
    double greatest[PHASES_SHOWN_MAX]; /* of a rank */
    double seconds;
};

/* Gather ctx->timers. Phases that took no time are left out. Collective. */
int phases_gather(struct ctx *ctx, double seconds, struct phases *out);

/* Lines for the terminal: names, shares, and imbalance over the ranks where
 * there are several. */
void phases_print(struct ctx *ctx, const struct phases *p);

#endif
