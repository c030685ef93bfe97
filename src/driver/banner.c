#include "driver/banner.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/log.h"
#include "base/param.h"
#include "driver/job.h"
#include "driver/version.h"
#include "kernels/device.h"

void banner_machine(struct ctx *ctx, const struct job *job, char *text,
                    size_t size)
{
    int ranks = comm_size(ctx->comm), threads = job->device->threads;
    int cpu = strcmp(job->device->name, "cpu") == 0;
    snprintf(text, size, "%d rank%s x %d thread%s, %s%s%s%s, %s", ranks,
             ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
             job->device->name, cpu ? " (" : "", cpu ? device_simd_name() : "",
             cpu ? ")" : "", job->solver->precision(job->state));
}

void banner_print(struct ctx *ctx, const struct job *job)
{
    char machine[160], memory[FORMAT_MAX];
    banner_machine(ctx, job, machine, sizeof(machine));
    log_info(ctx->log, "Warpdeck %s  (git %s)   %s   %s   %s   %s",
             version_number(), version_git(), job->solver->name, job->name,
             job->plan.problem, machine);
    const char *title = params_string(job->params, "run", "title");
    if (title[0] != '\0')
        log_info(ctx->log, "%s", title);
    log_verbose(ctx->log, "ranks as %d x %d x %d, about %s on each",
                job->plan.decomposition[0], job->plan.decomposition[1],
                job->plan.decomposition[2],
                format_bytes(job->plan.memory_per_rank, memory));
    if (job->device->choice[0] != '\0' &&
        (device_takes_cards() || log_level(ctx->log) >= LOG_VERBOSE))
        log_info(ctx->log, "device \"auto\" is %s: %s", job->device->name,
                 job->device->choice);
    if (job->device->sharers > 1 && strcmp(job->device->name, "cpu") != 0)
        log_info(ctx->log, "%d ranks share a card", job->device->sharers);
}
