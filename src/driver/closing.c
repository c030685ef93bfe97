/* The end of a run: where the time went, what was written, how to go on. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "driver/phases.h"
#include "driver/run.h"
#include "kernels/device.h"
#include "kernels/machine.h"
#include "solvers/solver.h"

/* The most memory this process ever held. */
static double peak_memory(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return 1024.0 * (double)usage.ru_maxrss;
}

static void print_rates(struct ctx *ctx, const struct run *run,
                        const struct solver_totals *t, double seconds)
{
    int64_t steps =
        run->job.solver->step_number(run->job.state) - run->first_step;
    char time[FORMAT_MAX], rate[FORMAT_MAX], extra[FORMAT_MAX];
    char line[256];
    double per_second = (double)steps / seconds;
    int n = snprintf(line, sizeof(line), "%" PRId64 " step%s in %s", steps,
                     steps == 1 ? "" : "s", format_seconds(seconds, time));
    if (steps > 0 && t->items > 0)
        n += snprintf(line + n, sizeof(line) - (size_t)n, ": %s %s-steps/s",
                      format_count(t->items * per_second, rate), t->item);
    if (steps > 0 && t->extra != NULL && t->extra_rate > 0)
        n +=
            snprintf(line + n, sizeof(line) - (size_t)n, ", %s %s/s",
                     format_count(t->extra_rate * per_second, extra), t->extra);
    double days = t->per_day * per_second;
    if (steps > 0 && days > 0)
        n += snprintf(line + n, sizeof(line) - (size_t)n, ", %.*f ns/day",
                      days < 10    ? 2
                      : days < 100 ? 1
                                   : 0,
                      days);
    if (t->imbalance > 0 && comm_size(ctx->comm) > 1)
        snprintf(line + n, sizeof(line) - (size_t)n, ", imbalance %.2f",
                 t->imbalance);
    log_info(ctx->log, "%s", line);
}

/* What went between host and card, of all ranks. */
static int print_traffic(struct ctx *ctx, const struct run *run)
{
    const struct device *d = run->job.device;
    uint64_t to_card = 0, to_host = 0;
    char a[FORMAT_MAX], b[FORMAT_MAX];
    if (d->traffic == NULL)
        return 0;
    d->traffic(d, &to_card, &to_host);
    double bytes[2] = {(double)to_card, (double)to_host};
    TRY(comm_sum_double(ctx, bytes, 2));
    log_info(ctx->log, "  copied to cards: %s, from cards: %s",
             format_bytes(bytes[0], a), format_bytes(bytes[1], b));
    return 0;
}

/* How near the loops came to what the cores can do: with -v only, since the
 * peak has to be measured. */
static int print_peak(struct ctx *ctx, const struct run *run,
                      const struct solver_totals *t, double seconds)
{
    if (log_level(ctx->log) < LOG_VERBOSE || !(t->flops > 0))
        return 0;
    const char *precision = run->job.solver->precision(run->job.state);
    struct machine_limits m;
    if (run->job.device->limits != NULL)
        TRY(comm_agree(ctx, run->job.device->limits(ctx, &m)));
    else
        machine_measure(run->job.device->threads, 0.05, &m);
    double peak = precision[0] == 'd' ? m.fma_double : m.fma_single;
    TRY(comm_sum_double(ctx, &peak, 1));
    log_info(ctx->log, "  %.1f GFLOP/s, %.0f %% of the measured FMA peak",
             1e-9 * t->flops / seconds, 100 * t->flops / (seconds * peak));
    return 0;
}

/* The list of frames stands beside NAME.h5. */
static void print_series(struct ctx *ctx, const struct run *run)
{
    char path[512], shown[512];
    int n = (int)strlen(run->output.h5) - (int)strlen(".h5");
    snprintf(path, sizeof(path), "%.*s.hdf.series", n, run->output.h5);
    format_path(path, shown, sizeof(shown));
    log_info(ctx->log, "frames: %s, for ParaView", shown);
}

static void print_files(struct ctx *ctx, const struct run *run)
{
    char h5[512], log[512], size[FORMAT_MAX];
    format_path(run->output.h5, h5, sizeof(h5));
    format_path(run->output.log, log, sizeof(log));
    log_info(ctx->log, "wrote %s (%" PRId64 " frame%s, %s) and %s", h5,
             run->results.frames_written,
             run->results.frames_written == 1 ? "" : "s",
             format_bytes(run->results.bytes_written, size), log);
    if (run->job.solver->grid_frame != NULL)
        print_series(ctx, run);
    log_info(ctx->log, "next: warpdeck-post plot %s", h5);
}

int closing_print(struct ctx *ctx, struct run *run)
{
    struct solver_totals totals = {0};
    struct phases phases;
    TRY(run->job.solver->totals(ctx, run->job.state, &totals));
    TRY(phases_gather(ctx, run->seconds, &phases));
    double sent = (double)(comm_bytes_sent(ctx->comm) - run->bytes_sent);
    double memory = peak_memory();
    TRY(comm_sum_double(ctx, &sent, 1));
    TRY(comm_max_double(ctx, &memory, 1));

    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];
    log_info(ctx->log, "%s", "");
    print_rates(ctx, run, &totals, phases.seconds);
    phases_print(ctx, &phases);
    log_info(ctx->log,
             "  memory of a rank: %s of %s data, %s in all; sent between "
             "ranks: %s",
             format_bytes(totals.memory, a), totals.item,
             format_bytes(memory, b), format_bytes(sent, c));
    TRY(print_traffic(ctx, run));
    for (int i = 0; i < SOLVER_NOTES; i++)
        if (totals.notes[i][0] != '\0')
            log_info(ctx->log, "  %s", totals.notes[i]);
    TRY(print_peak(ctx, run, &totals, phases.seconds));
    print_files(ctx, run);
    return 0;
}
