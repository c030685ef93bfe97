#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/h5md.h"
#include "io/h5md_file.h"

/* Now, "2024-05-01T12:00:00Z". */
static void utc_now(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm utc;

    if (gmtime_r(&now, &utc) == NULL ||
        strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        text[0] = '\0';
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

static int write_texts(struct ctx *ctx, struct h5md *f,
                       const struct provenance *from)
{
    const struct {
        const char *name, *text;
    } texts[] = {
        {"solver", from->solver},
        {"title", from->title},
        {"deck_path", from->deck_path},
        {"version", from->version},
        {"git", from->git},
        {"flags", from->flags},
        {"libraries", from->libraries},
        {"device", from->device},
        {"precision", from->precision},
        {"units", from->units},
        {"command", from->command},
        {"host", from->host},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        TRY(h5_text(ctx, f->h5, "/run", texts[i].name, texts[i].text));
    return 0;
}

/* Decks may be longer than an attribute, so they are datasets. */
static int write_deck(struct ctx *ctx, struct h5md *f, const char *path,
                      const char *text, size_t size, const char *description)
{
    TRY(h5_text_dataset(ctx, f->h5, path, text, size));
    return h5md_describe(ctx, f, path, "", description, 0);
}

int h5md_write_run(struct ctx *ctx, struct h5md *f,
                   const struct provenance *from)
{
    const int64_t format = H5MD_FORMAT_VERSION, zero = 0;
    const int64_t ranks = from->ranks, threads = from->threads;
    const int64_t cut[3] = {from->decomposition[0], from->decomposition[1],
                            from->decomposition[2]};
    char now[32];

    utc_now(now, sizeof now);
    TRY(h5_text(ctx, f->h5, "/", "suite", "Warpdeck"));
    TRY(h5_text(ctx, f->h5, "/", "version", from->version));
    TRY(h5_ints(ctx, f->h5, "/", "format_version", 1, &format));
    TRY(write_h5md(ctx, f, from->version));
    TRY(h5_group(ctx, f->h5, "/run"));
    TRY(write_texts(ctx, f, from));
    TRY(h5_ints(ctx, f->h5, "/run", "ranks", 1, &ranks));
    TRY(h5_ints(ctx, f->h5, "/run", "threads", 1, &threads));
    TRY(h5_ints(ctx, f->h5, "/run", "decomposition", 3, cut));
    TRY(h5_text(ctx, f->h5, "/run", "start", now));
    TRY(h5_ints(ctx, f->h5, "/run", "complete", 1, &zero));
    TRY(write_deck(ctx, f, "/run/deck", from->deck, from->deck_size,
                   "the deck, byte for byte"));
    return write_deck(ctx, f, "/run/resolved_deck", from->resolved,
                      from->resolved_size,
                      "the deck with all defaults and overrides filled in");
}

int h5md_write_end(struct ctx *ctx, struct h5md *f)
{
    char now[32];

    utc_now(now, sizeof now);
    return h5_text(ctx, f->h5, "/run", "end", now);
}
