#include "io/provenance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

#include "io/h5.h"

/* Now, "2024-05-01T12:00:00Z". */
static void utc_now(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm utc;

    if (gmtime_r(&now, &utc) == NULL ||
        strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        text[0] = '\0';
}

/* All texts, or those that may change when a run goes on. */
static int write_texts(struct ctx *ctx, struct h5 *f, const char *group,
                       const struct provenance *from, int all)
{
    const struct {
        const char *name, *text;
        int may_change;
    } texts[] = {
        {"solver", from->solver, 0},
        {"title", from->title, 0},
        {"deck_path", from->deck_path, 1},
        {"version", from->version, 1},
        {"git", from->git, 1},
        {"flags", from->flags, 1},
        {"libraries", from->libraries, 1},
        {"device", from->device, 1},
        {"precision", from->precision, 0},
        {"units", from->units, 0},
        {"command", from->command, 1},
        {"host", from->host, 1},
    };
    const int64_t ranks = from->ranks, threads = from->threads;
    const int64_t cut[3] = {from->decomposition[0], from->decomposition[1],
                            from->decomposition[2]};
    char now[32];

    utc_now(now, sizeof now);
    TRY(h5_group(ctx, f, group));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (all || texts[i].may_change)
            TRY(h5_text(ctx, f, group, texts[i].name, texts[i].text));
    TRY(h5_ints(ctx, f, group, "ranks", 1, &ranks));
    TRY(h5_ints(ctx, f, group, "threads", 1, &threads));
    TRY(h5_ints(ctx, f, group, "decomposition", 3, cut));
    return h5_text(ctx, f, group, "start", now);
}

/* Decks may be longer than an attribute, so they are datasets. */
static int write_deck(struct ctx *ctx, struct h5 *f, const char *group,
                      const char *name, const char *text, size_t size,
                      const char *description, int has_units)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", group, name);
    TRY(h5_text_dataset(ctx, f, path, text, size));
    if (has_units)
        TRY(h5_text(ctx, f, path, "unit", ""));
    return h5_text(ctx, f, path, "description", description);
}

int provenance_has_units(const struct provenance *from)
{
    return from->grid || from->units == NULL || strcmp(from->units, "lj") != 0;
}

static int write_decks(struct ctx *ctx, struct h5 *f, const char *group,
                       const struct provenance *from)
{
    int units = provenance_has_units(from);

    TRY(write_deck(ctx, f, group, "deck", from->deck, from->deck_size,
                   "the deck, byte for byte", units));
    return write_deck(
        ctx, f, group, "resolved_deck", from->resolved, from->resolved_size,
        "the deck with all defaults and overrides filled in", units);
}

int provenance_write_root(struct ctx *ctx, struct h5 *f,
                          const struct provenance *from)
{
    const int64_t format = PROVENANCE_FORMAT_VERSION;

    TRY(h5_text(ctx, f, "/", "suite", "Warpdeck"));
    TRY(h5_text(ctx, f, "/", "version", from->version));
    return h5_ints(ctx, f, "/", "format_version", 1, &format);
}

int provenance_write(struct ctx *ctx, struct h5 *f,
                     const struct provenance *from)
{
    const int64_t zero = 0;

    TRY(provenance_write_root(ctx, f, from));
    TRY(write_texts(ctx, f, "/run", from, 1));
    TRY(h5_ints(ctx, f, "/run", "complete", 1, &zero));
    return write_decks(ctx, f, "/run", from);
}

int provenance_write_end(struct ctx *ctx, struct h5 *f)
{
    char now[32];

    utc_now(now, sizeof now);
    return h5_text(ctx, f, "/run", "end", now);
}

int provenance_write_complete(struct ctx *ctx, struct h5 *f)
{
    const int64_t one = 1;

    return h5_ints(ctx, f, "/run", "complete", 1, &one);
}

int provenance_write_resumed(struct ctx *ctx, struct h5 *f,
                             const struct provenance *from, int64_t step)
{
    const int64_t zero = 0;
    char group[64];
    int n = 0;

    do
        snprintf(group, sizeof group, "/run/resumed/%d", n++);
    while (h5_exists(f, group));
    TRY(write_texts(ctx, f, group, from, 0));
    TRY(h5_ints(ctx, f, group, "step", 1, &step));
    TRY(write_decks(ctx, f, group, from));
    return h5_ints(ctx, f, "/run", "complete", 1, &zero);
}
