#include "io/h5md.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "domain/field.h"
#include "io/h5.h"
#include "io/h5md_file.h"

const char *h5md_library_version(void)
{
    static char text[64];
    unsigned major, minor, release;

    if (H5get_libversion(&major, &minor, &release) < 0)
        return "HDF5 (unknown version)";
    snprintf(text, sizeof text, "HDF5 %u.%u.%u (%s)", major, minor, release,
#ifdef HAVE_MPI
             "parallel"
#else
             "serial"
#endif
    );
    return text;
}

double h5md_slack(int n_datasets)
{
    return 65536.0 + 16384.0 * n_datasets;
}

/* The units that MDAnalysis's reader of H5MD translates (2.4.2,
 * coordinates/H5MD.py, _unit_translation), as far as units.c spells them. It
 * also takes "Angstrom fs-1", but converts it by 1e-3 instead of 1e3. */
static int known_to_mdanalysis(const char *unit)
{
    static const char *const known[] = {"ps",
                                        "fs",
                                        "ns",
                                        "s",
                                        "Angstrom",
                                        "nm",
                                        "pm",
                                        "fm",
                                        "Angstrom ps-1",
                                        "nm ps-1",
                                        "nm ns-1",
                                        "pm ps-1",
                                        "m s-1",
                                        "kJ mol-1 Angstrom-1",
                                        "kJ mol-1 nm-1",
                                        "kcal mol-1 Angstrom-1",
                                        "N"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(unit, known[i]) == 0)
            return 1;
    return 0;
}

int h5md_describe(struct ctx *ctx, struct h5md *f, const char *path,
                  const char *unit, const char *description,
                  int read_by_mdanalysis)
{
    const char *name = "unit";

    TRY(h5_text(ctx, f->h5, path, "description", description));
    if (f->no_units)
        return 0;
    if (read_by_mdanalysis && !known_to_mdanalysis(unit))
        name = "physical_unit";
    return h5_text(ctx, f->h5, path, name, unit);
}

/* ---- making ---- */

static void free_all(struct h5md *f)
{
    h5md_free_particles(f);
    h5md_free_series(f);
    free(f);
}

static int refuse_existing(struct ctx *ctx, const char *path, int overwrite)
{
    struct stat there;
    int status = 0;

    if (comm_rank(ctx->comm) == 0 && stat(path, &there) == 0) {
        if (!overwrite)
            status = FAIL(ctx, STATUS_USAGE,
                          "'%s' exists already, and is not replaced unless "
                          "asked for",
                          path);
        else if (!S_ISREG(there.st_mode))
            status = FAIL(ctx, STATUS_USAGE,
                          "'%s' is not a file and cannot be replaced", path);
    }
    return comm_agree(ctx, status);
}

static double beginning_bytes(const struct provenance *from, int n_observables)
{
    return h5md_slack(n_observables + 16) + (double)from->deck_size +
           (double)from->resolved_size;
}

/* H5MD asks for an author: the account that runs the program. */
static const char *account(void)
{
    const struct passwd *who = getpwuid(geteuid());
    const char *name = getenv("USER");

    if (who != NULL && who->pw_name != NULL && who->pw_name[0] != '\0')
        return who->pw_name;
    return name != NULL && name[0] != '\0' ? name : "unknown";
}

static int write_h5md(struct ctx *ctx, struct h5md *f, const char *version)
{
    const int64_t format[2] = {1, 1};

    TRY(h5_group(ctx, f->h5, "/h5md"));
    TRY(h5_group(ctx, f->h5, "/h5md/author"));
    TRY(h5_group(ctx, f->h5, "/h5md/creator"));
    TRY(h5_ints(ctx, f->h5, "/h5md", "version", 2, format));
    TRY(h5_text(ctx, f->h5, "/h5md/author", "name", account()));
    TRY(h5_text(ctx, f->h5, "/h5md/creator", "name", "Warpdeck"));
    return h5_text(ctx, f->h5, "/h5md/creator", "version", version);
}

static int fill_in(struct ctx *ctx, struct h5md *f,
                   const struct provenance *from, int n_observables,
                   const struct observable *observables, const char *time_unit)
{
    int status;

    TRY(h5_reserve(ctx, f->h5, beginning_bytes(from, n_observables),
                   "the beginning of the file"));
    status = provenance_write(ctx, f->h5, from);
    if (status == 0 && !from->grid)
        status = write_h5md(ctx, f, from->version);
    TRY(comm_agree(ctx, status));
    TRY(h5md_series_make(ctx, f, "/observables", n_observables, observables,
                         NULL, time_unit, &f->observables));
    f->flushed = timer_now();
    return h5_flush(ctx, f->h5);
}

static char *add_ending(const char *path, const char *ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char *text = malloc(size);

    if (text != NULL)
        snprintf(text, size, "%s%s", path, ending);
    return text;
}

int h5md_create(struct ctx *ctx, const char *path, int overwrite,
                const struct provenance *from, int n_observables,
                const struct observable *observables, const char *time_unit,
                struct h5md **out)
{
    struct h5md *f = calloc(1, sizeof *f);
    char *beside = add_ending(path, ".new.tmp"), *aside = h5_aside_name(path);
    int status = 0;

    *out = NULL;
    if (f == NULL || beside == NULL || aside == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    f->no_units = !provenance_has_units(from);
    f->frame_last = -1;
    TRY_CLEANUP(refuse_existing(ctx, path, overwrite));
    TRY_CLEANUP(
        h5_create(ctx, beside, beginning_bytes(from, n_observables), &f->h5));
    TRY_CLEANUP(fill_in(ctx, f, from, n_observables, observables, time_unit));
    TRY_CLEANUP(h5_rename(ctx, f->h5, path));
    /* What a killed run has left, if anything. */
    if (comm_rank(ctx->comm) == 0)
        unlink(aside);
    free(beside);
    free(aside);
    *out = f;
    return 0;
cleanup:
    if (f != NULL) {
        struct h5 *h5 = f->h5;

        free_all(f);
        h5_discard(h5);
    }
    free(beside);
    free(aside);
    return status;
}

/* ---- going on ---- */

/* What can be written anew stands first. */
static const char *const parts[] = {"run",       "h5md",   "observables",
                                    "particles", "probes", "monitor"};
static const struct h5_parts saved = {
    .n = (int)(sizeof parts / sizeof parts[0]), .n_spare = 2, .name = parts};

/* What a mended file has lost. */
static int write_again(struct ctx *ctx, struct h5md *f,
                       const struct provenance *from)
{
    int status = 0;

    if (h5_exists(f->h5, "/run"))
        status = provenance_write_root(ctx, f->h5, from);
    else
        status = provenance_write(ctx, f->h5, from);
    if (status == 0 && !from->grid && !h5_exists(f->h5, "/h5md"))
        status = write_h5md(ctx, f, from->version);
    return status;
}

static int go_on(struct ctx *ctx, struct h5md *f, int mended,
                 struct h5md_keep keep, const struct provenance *from,
                 int n_observables, const struct observable *observables,
                 const char *time_unit)
{
    int status;

    TRY(h5_reserve(ctx, f->h5, beginning_bytes(from, n_observables),
                   "what is to come"));
    TRY(h5_cut_series(ctx, f->h5, "/observables", keep.row));
    TRY(h5_cut_series(ctx, f->h5, "/particles", keep.frame));
    TRY(h5_cut_series(ctx, f->h5, "/probes", keep.step));
    TRY(h5_cut_series(ctx, f->h5, "/monitor", keep.step));
    status = mended ? write_again(ctx, f, from) : 0;
    if (status == 0)
        status = h5_remove(ctx, f->h5, "/statistics");
    if (status == 0)
        status = h5_remove(ctx, f->h5, "/risk");
    if (status == 0)
        status = provenance_write_resumed(ctx, f->h5, from, keep.step);
    TRY(comm_agree(ctx, status));
    TRY(h5md_series_make(ctx, f, "/observables", n_observables, observables,
                         NULL, time_unit, &f->observables));
    TRY(h5md_find_frames(ctx, f));
    f->flushed = timer_now();
    return h5_flush(ctx, f->h5);
}

int h5md_reopen(struct ctx *ctx, const char *path, struct h5md_keep keep,
                const struct provenance *from, int n_observables,
                const struct observable *observables, const char *time_unit,
                struct h5md **out)
{
    struct h5md *f = calloc(1, sizeof *f);
    int status = 0, mended = 0;

    *out = NULL;
    if (f == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    f->no_units = !provenance_has_units(from);
    f->reopened = 1;
    f->frame_last = -1;
    TRY_CLEANUP(h5_mend(ctx, path, &saved, &mended));
    TRY_CLEANUP(h5_open(ctx, path, &f->h5));
    TRY_CLEANUP(go_on(ctx, f, mended, keep, from, n_observables, observables,
                      time_unit));
    *out = f;
    return 0;
cleanup:
    h5md_abandon(f);
    return status;
}

/* ---- closing ---- */

static int finish(struct ctx *ctx, struct h5md *f, int finished)
{
    TRY(h5md_settle(ctx, f));
    TRY(h5_reserve(ctx, f->h5, h5md_slack(1), "the end of the file"));
    TRY(comm_agree(ctx, provenance_write_end(ctx, f->h5)));
    TRY(h5_flush(ctx, f->h5));
    if (finished)
        TRY(comm_agree(ctx, provenance_write_complete(ctx, f->h5)));
    return 0;
}

int h5md_close(struct ctx *ctx, struct h5md *f, int finished)
{
    int status = finish(ctx, f, finished);

    if (status != 0) {
        h5md_abandon(f);
        return status;
    }
    h5md_free_particles(f);
    h5md_free_series(f);
    status = h5_close(ctx, f->h5);
    free_all(f);
    return status;
}

void h5md_abandon(struct h5md *f)
{
    if (f == NULL)
        return;
    struct h5 *h5 = f->h5;

    free_all(f);
    h5_abandon(h5);
}

/* ---- frames and tables ---- */

/* Bytes a frame takes at most, and those of its numbers. */
static double frame_bytes(const struct h5md *f, uint64_t *payload)
{
    double bytes =
        h5md_slack(f->n_fields + 3) + h5_set_layer_bytes(&f->frame_step) +
        h5_set_layer_bytes(&f->frame_time) + h5_set_layer_bytes(&f->edges);

    *payload = 88; /* step, time, edges */
    for (int i = 0; i < f->n_fields; i++) {
        const struct h5md_field *field = &f->fields[i];
        size_t item = field->values.type == FIELD_INT32 ? 4 : 8;

        if (field->constant && f->frames > 0)
            continue;
        bytes += h5_set_layer_bytes(&field->values);
        *payload += (uint64_t)field->total * (uint64_t)field->components * item;
    }
    return bytes;
}

/* All three even after a failure: the other ranks extend them, too. */
static int append_box(struct ctx *ctx, struct h5md *f,
                      const struct field_frame *frame)
{
    double edges[3][3] = {{0}};
    int64_t step = frame->step;
    int status[3];

    for (int d = 0; d < 3; d++)
        edges[d][d] = frame->box_edges[d];
    edges[1][0] = frame->box_tilt[0];
    edges[2][0] = frame->box_tilt[1];
    edges[2][1] = frame->box_tilt[2];
    status[0] = h5_set_append(ctx, f->h5, &f->edges, 1, edges);
    status[1] = h5_set_append(ctx, f->h5, &f->frame_step, 1, &step);
    status[2] = h5_set_append(ctx, f->h5, &f->frame_time, 1, &frame->time);
    for (int i = 0; i < 3; i++)
        if (status[i] != 0)
            return status[i];
    return 0;
}

static int append_field(struct ctx *ctx, struct h5md *f,
                        struct h5md_field *field, const struct field *from)
{
    if (!field->constant)
        return h5_set_append_rows(ctx, f->h5, &field->values, from->first,
                                  from->n, from->values);
    if (f->frames > 0)
        return 0;
    return h5_set_write(ctx, f->h5, &field->values, from->first, from->n,
                        from->values);
}

static const char *frames_before(const struct h5md *f, char text[48])
{
    if (f->frames > 1)
        snprintf(text, 48, "stand the %lld frames before it",
                 (long long)f->frames);
    else
        snprintf(text, 48, "%s",
                 f->frames == 1 ? "stands the frame before it"
                                : "stands no frame yet");
    return text;
}

int h5md_write_frame(struct ctx *ctx, struct h5md *f,
                     const struct field_frame *frame)
{
    char what[64], before[48];
    uint64_t payload;

    h5_silence(); /* of this thread, too */
    TRY(h5md_settle(ctx, f));
    TRY(comm_agree(ctx, h5md_make_particles(ctx, f, frame)));
    snprintf(what, sizeof what, "the frame of step %lld",
             (long long)frame->step);
    TRY_WHILE(ctx, h5_reserve(ctx, f->h5, frame_bytes(f, &payload), what),
              "in the file %s", frames_before(f, before));
    TRY(h5_agree(ctx, f->h5, append_box(ctx, f, frame)));
    for (int i = 0; i < f->n_fields; i++)
        TRY(append_field(ctx, f, &f->fields[i], &frame->fields[i]));
    f->frames++;
    f->frame_last = frame->step;
    f->bytes += payload;
    f->flushed = timer_now();
    return h5_flush(ctx, f->h5);
}

int h5md_flush(struct ctx *ctx, struct h5md *f)
{
    TRY(h5md_settle(ctx, f));
    f->flushed = timer_now();
    return h5_flush(ctx, f->h5);
}

int64_t h5md_frames(const struct h5md *f)
{
    return f->frames;
}

uint64_t h5md_bytes(const struct h5md *f)
{
    return f->bytes;
}

int64_t h5md_last_row(const struct h5md *f)
{
    return f->observables.last;
}

int64_t h5md_last_frame(const struct h5md *f)
{
    return f->frame_last;
}
