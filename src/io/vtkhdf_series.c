#include "io/vtkhdf_series.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static const char ending[] = ".hdf";

char *vtkhdf_path(const char *stem, int64_t step, const char *behind)
{
    size_t size = strlen(stem) + strlen(behind) + 40;
    char *path = malloc(size);

    if (path != NULL)
        snprintf(path, size, "%s_%06" PRId64 "%s%s", stem, step, ending,
                 behind);
    return path;
}

static char *list_path(const char *stem, const char *behind)
{
    size_t size = strlen(stem) + strlen(behind) + 40;
    char *path = malloc(size);

    if (path != NULL)
        snprintf(path, size, "%s%s.series%s", stem, ending, behind);
    return path;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int no_memory(struct ctx *ctx)
{
    return FAIL(ctx, STATUS_MEMORY, "out of memory");
}

static int os_error(struct ctx *ctx, const char *what, const char *path)
{
    return FAIL(ctx, STATUS_IO, "cannot %s '%s': %s", what, path,
                strerror(errno));
}

/* ---- files that are there ---- */

/* The step of a frame's file name, also of one that was not finished; -1: it is
 * no frame of ours. */
static int64_t step_of(const char *name, const char *stem)
{
    const char *base = base_name(stem);
    size_t n = strlen(base);
    char *end;
    int64_t step;

    if (strncmp(name, base, n) != 0 || name[n] != '_' ||
        !isdigit((unsigned char)name[n + 1]))
        return -1;
    errno = 0;
    step = strtoll(name + n + 1, &end, 10);
    if (errno != 0 ||
        (strcmp(end, ending) != 0 && strcmp(end, ".hdf.tmp") != 0))
        return -1;
    return step;
}

static int delete_one(struct ctx *ctx, const char *folder, size_t folder_size,
                      const char *name)
{
    size_t size = folder_size + strlen(name) + 1;
    char *path = malloc(size);
    int status = 0;

    if (path == NULL)
        return no_memory(ctx);
    snprintf(path, size, "%.*s%s", (int)folder_size, folder, name);
    if (unlink(path) != 0 && errno != ENOENT)
        status = os_error(ctx, "delete", path);
    free(path);
    return status;
}

static int delete_later(struct ctx *ctx, const char *stem, int64_t keep)
{
    size_t n = (size_t)(base_name(stem) - stem);
    char *folder = n > 0 ? strndup(stem, n) : strdup(".");
    const struct dirent *entry;
    DIR *dir;
    int status = 0;

    if (folder == NULL)
        return no_memory(ctx);
    dir = opendir(folder);
    if (dir == NULL)
        status = os_error(ctx, "look into the folder", folder);
    while (status == 0 && (entry = readdir(dir)) != NULL) {
        if (step_of(entry->d_name, stem) > keep)
            status = delete_one(ctx, stem, n, entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
    free(folder);
    return status;
}

/* ---- the list ---- */

static int add(struct ctx *ctx, struct vtkhdf_series *s, int64_t step,
               double time)
{
    int64_t *steps = realloc(s->steps, (s->n + 1) * sizeof *steps);
    double *times;

    if (steps == NULL)
        return no_memory(ctx);
    s->steps = steps;
    times = realloc(s->times, (s->n + 1) * sizeof *times);
    if (times == NULL)
        return no_memory(ctx);
    s->times = times;
    s->steps[s->n] = step;
    s->times[s->n] = time;
    s->n++;
    return 0;
}

static void put_name(FILE *f, const char *name)
{
    fputc('"', f);
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', f);
        fputc(*c, f);
    }
    fputc('"', f);
}

static void print(FILE *f, const struct vtkhdf_series *s)
{
    fputs("{\n  \"file-series-version\" : \"1.0\",\n  \"files\" : [\n", f);
    for (size_t i = 0; i < s->n; i++) {
        char *path = vtkhdf_path(base_name(s->stem), s->steps[i], "");

        fputs("    { \"name\" : ", f);
        put_name(f, path != NULL ? path : "");
        fprintf(f, ", \"time\" : %.17g }%s\n", s->times[i],
                i + 1 < s->n ? "," : "");
        free(path);
    }
    fputs("  ]\n}\n", f);
}

/* The list is replaced in one go, so that a reader never sees half of it. */
static int write_list(struct ctx *ctx, const struct vtkhdf_series *s)
{
    char *path = list_path(s->stem, ""), *beside = list_path(s->stem, ".tmp");
    FILE *f = beside != NULL ? fopen(beside, "w") : NULL;
    int status = 0;

    if (path == NULL || beside == NULL) {
        status = no_memory(ctx);
    } else if (f == NULL) {
        status = os_error(ctx, "create", beside);
    } else {
        print(f, s);
        int failed = fflush(f) != 0 || ferror(f) ||
                     (fsync(fileno(f)) != 0 && errno == EIO);
        if (fclose(f) != 0 || failed || rename(beside, path) != 0) {
            status = os_error(ctx, "write", path);
            unlink(beside);
        }
    }
    free(path);
    free(beside);
    return status;
}

/* Lines as print() makes them; others are passed over. */
static int read_list(struct ctx *ctx, struct vtkhdf_series *s, int64_t keep)
{
    char *path = list_path(s->stem, ""), *line = NULL;
    FILE *f = path != NULL ? fopen(path, "r") : NULL;
    size_t size = 0;
    int status = path == NULL ? no_memory(ctx) : 0;

    while (f != NULL && status == 0 && getline(&line, &size, f) > 0) {
        static const char key[] = "\", \"time\" : ";
        char *time = strstr(line, key), *under;
        int64_t step;

        if (time == NULL)
            continue;
        *time = '\0';
        under = strrchr(line, '_');
        step = under != NULL ? strtoll(under + 1, NULL, 10) : -1;
        if (step >= 0 && step <= keep)
            status = add(ctx, s, step, strtod(time + strlen(key), NULL));
    }
    free(line);
    if (f != NULL)
        fclose(f);
    free(path);
    return status;
}

int vtkhdf_series_begin(struct ctx *ctx, const char *stem, int64_t keep,
                        struct vtkhdf_series *out)
{
    char *path = list_path(stem, "");
    int status = 0;

    *out = (struct vtkhdf_series){.stem = strdup(stem)};
    if (out->stem == NULL || path == NULL)
        status = no_memory(ctx);
    if (status == 0 && keep >= 0)
        status = read_list(ctx, out, keep);
    /* First the list, so that it never names what is gone. */
    if (status == 0 && out->n > 0)
        status = write_list(ctx, out);
    else if (status == 0 && unlink(path) != 0 && errno != ENOENT)
        status = os_error(ctx, "delete", path);
    if (status == 0)
        status = delete_later(ctx, stem, keep);
    free(path);
    return status;
}

int vtkhdf_series_add(struct ctx *ctx, struct vtkhdf_series *s, int64_t step,
                      double time)
{
    TRY(add(ctx, s, step, time));
    return write_list(ctx, s);
}

void vtkhdf_series_free(struct vtkhdf_series *s)
{
    free(s->stem);
    free(s->steps);
    free(s->times);
    *s = (struct vtkhdf_series){.n = 0};
}
