/* risk_files.c: which files a run was made from, so that one that goes on from
 * a checkpoint does not mix two portfolios or markets. */
#include <stdio.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/state.h"
#include "solvers/risk/risk.h"

void risk_file_note(struct risk *risk, const char *name, uint64_t hash)
{
    if (risk->n_files == RISK_FILES_MAX)
        return;
    struct risk_file *f = &risk->files[risk->n_files++];
    snprintf(f->name, sizeof f->name, "%s", name);
    f->hash = hash;
}

int risk_files_save(struct ctx *ctx, const struct risk *risk,
                    struct state_io *io)
{
    int64_t hashes[RISK_FILES_MAX] = {0};
    for (int i = 0; i < risk->n_files; i++)
        hashes[i] = (int64_t)risk->files[i].hash;
    const struct state_array a =
        state_shared("risk/files", STATE_INT64, RISK_FILES_MAX, hashes);
    return state_put(ctx, io, &a);
}

int risk_files_check(struct ctx *ctx, const struct risk *risk,
                     struct state_io *io)
{
    int64_t hashes[RISK_FILES_MAX] = {0};
    const struct state_array a =
        state_shared("risk/files", STATE_INT64, RISK_FILES_MAX, hashes);
    TRY(state_get(ctx, io, &a));
    for (int i = 0; i < risk->n_files; i++) {
        if (hashes[i] == (int64_t)risk->files[i].hash)
            continue;
        if (!io->force)
            return FAIL(ctx, STATUS_INPUT,
                        "%s has changed since the checkpoint; put back the "
                        "file that the run began with, begin anew, or use "
                        "--force to go on with it anyway",
                        risk->files[i].name);
        log_warn(ctx->log,
                 "%s has changed since the checkpoint: paths so far "
                 "are of the file as it was",
                 risk->files[i].name);
    }
    return 0;
}
