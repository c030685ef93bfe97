/* The story of a run, for the file it writes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "driver/commands.h"
#include "driver/format.h"
#include "driver/job.h"
#include "driver/output.h"
#include "driver/results.h"
#include "driver/version.h"
#include "io/h5md.h"
#include "kernels/device.h"

/* The command line as it can be typed again, in new memory. */
static char *command_text(const struct command_line *line)
{
    size_t size = 1;
    for (int i = 0; i < line->argc; i++)
        size += 4 * strlen(line->argv[i]) + 8;
    char *text = malloc(size);
    if (text == NULL)
        return NULL;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < line->argc; i++) {
        if (i > 0)
            text[used++] = ' ';
        format_path(line->argv[i], text + used, size - used);
        used += strlen(text + used);
    }
    return text;
}

int provenance_create(struct ctx *ctx, struct results *r,
                      const struct command_line *line)
{
    const struct job *job = r->job;
    char host[256] = "unknown";
    gethostname(host, sizeof(host) - 1);
    char *command = command_text(line);
    TRY(comm_agree(
        ctx, command != NULL ? 0 : FAIL(ctx, STATUS_MEMORY, "out of memory")));
    struct provenance from = {
        .solver = job->solver->name,
        .title = params_string(job->params, "run", "title"),
        .deck_path = params_path(job->params),
        .version = version_number(),
        .git = version_git(),
        .flags = version_flags(),
        .libraries = version_libraries(),
        .device = job->device->description,
        .precision = job->solver->precision(job->state),
        .units = unit_system_name(params_units(job->params)),
        .command = command,
        .host = host,
        .ranks = comm_size(ctx->comm),
        .threads = job->device->threads,
    };
    from.deck = params_text(job->params, &from.deck_size);
    from.resolved = params_resolved(job->params, &from.resolved_size);
    memcpy(from.decomposition, job->plan.decomposition,
           sizeof(from.decomposition));
    int status =
        h5md_create(ctx, r->output->h5, line->option[OPTION_OVERWRITE] != NULL,
                    &from, r->n_observables, r->observables,
                    job->solver->time_unit(job->state), &r->file);
    free(command);
    return status;
}
