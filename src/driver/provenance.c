/* The story of a run, for the file it writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "driver/commands.h"
#include "driver/job.h"
#include "driver/results.h"
#include "driver/version.h"
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

int provenance_tell(struct ctx *ctx, struct results *r,
                    const struct command_line *line)
{
    const struct job *job = r->job;
    struct provenance *from = &r->from;
    size_t size = 0;
    const char *resolved = params_resolved(job->params, &size);
    r->command = command_text(line);
    r->resolved = resolved != NULL ? strdup(resolved) : NULL;
    int ok = r->command != NULL && r->resolved != NULL;
    TRY(comm_agree(ctx, ok ? 0 : FAIL(ctx, STATUS_MEMORY, "out of memory")));
    snprintf(r->host, sizeof(r->host), "unknown");
    gethostname(r->host, sizeof(r->host) - 1);
    *from = (struct provenance){
        .solver = job->solver->name,
        .title = params_string(job->params, "run", "title"),
        .deck_path = params_path(job->params),
        .resolved = r->resolved,
        .resolved_size = size,
        .version = version_number(),
        .git = version_git(),
        .flags = version_flags(),
        .libraries = version_libraries(),
        .device = job->device->description,
        .precision = job->solver->precision(job->state),
        .units = unit_system_name(params_units(job->params)),
        .command = r->command,
        .host = r->host,
        .ranks = comm_size(ctx->comm),
        .threads = job->device->threads,
        .grid = job->solver->grid_frame != NULL,
    };
    from->deck = params_text(job->params, &from->deck_size);
    memcpy(from->decomposition, job->plan.decomposition,
           sizeof(from->decomposition));
    return 0;
}
