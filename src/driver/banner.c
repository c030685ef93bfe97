#include "driver/banner.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
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
    char machine[160];
    banner_machine(ctx, job, machine, sizeof(machine));
    log_info(ctx->log, "Warpdeck %s  (%s)   %s   %s   %s   %s",
             version_number(), version_git(), job->solver->name, job->name,
             job->plan.problem, machine);
    const char *title = params_string(job->params, "run", "title");
    if (title[0] != '\0')
        log_info(ctx->log, "%s", title);
    if (params_is_set(job->params, "checkpoint", "every"))
        log_warn(ctx->log, "this version writes no checkpoints; the deck's "
                           "[checkpoint] has no effect");
}
