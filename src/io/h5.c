#include "io/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifdef HAVE_MPI
#include <mpi.h>
#include <semaphore.h>
#ifndef H5_HAVE_PARALLEL
#error "a build with MPI needs HDF5 built with MPI"
#endif
#endif

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"

/* ---- errors ---- */

/* ROOT_LINKS: more than there ever are. */
enum { REASON_SIZE = 512, ROOT_LINKS = 48 };

struct reasons {
    int n;
    char text[REASON_SIZE];
};

/* The two innermost entries say what happened and to what. */
static herr_t collect_reason(unsigned n, const H5E_error2_t *entry, void *user)
{
    struct reasons *r = user;
    size_t used = strlen(r->text);

    (void)n;
    if (r->n < 2 && entry->desc != NULL && entry->desc[0] != '\0') {
        snprintf(r->text + used, sizeof r->text - used, "%s%s",
                 r->n == 0 ? "" : "; ", entry->desc);
        r->n++;
    }
    return 0;
}

static int is_lock_failure(const char *reason)
{
    return strstr(reason, "lock file") != NULL ||
           strstr(reason, "flock") != NULL ||
           strstr(reason, "errno = 37") != NULL || /* ENOLCK */
           strstr(reason, "errno = 524") != NULL;  /* ENOTSUPP of NFS */
}

int h5_error(struct ctx *ctx, const struct h5 *f, const char *fmt, ...)
{
    struct reasons r = {0, ""};
    char what[REASON_SIZE];
    va_list args;

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect_reason, &r);
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    FAIL(ctx, STATUS_IO, "'%s': cannot %s: %s", f->path, what,
         r.n > 0 ? r.text : "HDF5 gives no reason");
    if (is_lock_failure(r.text))
        error_context(ctx, STATUS_IO,
                      "the file system may have no locks, or another program "
                      "holds the file; set HDF5_USE_FILE_LOCKING=FALSE in the "
                      "environment to do without");
    return STATUS_IO;
}

void h5_silence(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

int h5_os_error(struct ctx *ctx, const char *what, const char *path)
{
    return FAIL(ctx, STATUS_IO, "cannot %s '%s': %s", what, path,
                strerror(errno));
}

/* ---- space ---- */

static int no_space(struct ctx *ctx, const struct h5 *f, double bytes,
                    double there, const char *what)
{
    char a[FORMAT_MAX], b[FORMAT_MAX];
    return FAIL(ctx, STATUS_IO,
                "'%s': no space for %s: it takes up to %s, and %s are free",
                f->path, what, format_bytes(bytes, a), format_bytes(there, b));
}

static int reserve_here(struct ctx *ctx, struct h5 *f, double bytes,
                        const char *what)
{
    struct statvfs disk;
    struct stat file;
    double there = -1.0;
    char size[FORMAT_MAX];

    if (fstat(f->fd, &file) != 0)
        return h5_os_error(ctx, "look at", f->path);
    /* Some network file systems do not say how much there is. */
    if (fstatvfs(f->fd, &disk) == 0 && disk.f_blocks > 0) {
        there = (double)disk.f_bavail * (double)disk.f_frsize;
        if (there < bytes)
            return no_space(ctx, f, bytes, there, what);
    }
#ifdef FALLOC_FL_KEEP_SIZE
    /* Beyond the end of the file, so that a killed run leaves no zeros. */
    if (fallocate(f->fd, FALLOC_FL_KEEP_SIZE, file.st_size, (off_t)bytes) !=
            0 &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        return FAIL(ctx, STATUS_IO,
                    "'%s': no space for %s, which takes up to %s: %s", f->path,
                    what, format_bytes(bytes, size), strerror(errno));
#endif
    return 0;
}

int h5_reserve(struct ctx *ctx, struct h5 *f, double bytes, const char *what)
{
    int status = 0;

    if (comm_rank(ctx->comm) == 0)
        status = reserve_here(ctx, f, bytes, what);
    return comm_agree(ctx, status);
}

/* ---- creating ---- */

static struct h5 *h5_new(const char *path)
{
    struct h5 *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    f->file = f->whole = f->transfer = f->together = H5I_INVALID_HID;
    f->fd = -1;
    f->piece_bytes = H5_PIECE_BYTES;
    f->path = strdup(path);
    if (f->path == NULL) {
        free(f);
        return NULL;
    }
    return f;
}

/* Rank 0 opens the file by ordinary means first: errno tells more than MPI-IO
 * does, and HDF5 must not begin a file that it cannot end. The others look
 * whether they see it, for a folder that the hosts do not share. */
static int touch_file(struct ctx *ctx, struct h5 *f, int flags, double bytes)
{
    int status = 0;

    if (comm_rank(ctx->comm) == 0) {
        f->fd = open(f->path, O_RDWR | O_CLOEXEC | flags, 0666);
        if (f->fd < 0)
            status =
                h5_os_error(ctx, flags & O_CREAT ? "create" : "open", f->path);
        else
            status = reserve_here(ctx, f, bytes, "the beginning of the file");
    }
    TRY(comm_agree(ctx, status));
    if (access(f->path, F_OK) != 0)
        status = FAIL(ctx, STATUS_IO,
                      "rank %d does not see '%s', which rank 0 has opened: "
                      "the output folder must be on a file system that all "
                      "hosts share",
                      comm_rank(ctx->comm), f->path);
    return comm_agree(ctx, status);
}

#ifdef HAVE_MPI
/* Open MPI has a semaphore on each host for each name of an open file, for
 * pointers into it that ranks share; nobody here has any. One that was left by
 * a run killed as it had just taken it would hold up all later runs with a file
 * of this name, for ever. Who has opened it keeps what is forgotten. Before a
 * collective call that comes before the opening. */
static void forget_semaphore(struct ctx *ctx, const struct h5 *f)
{
#ifdef OPEN_MPI
    const char *slash = strrchr(f->path, '/');
    char name[256];
    int n = snprintf(name, sizeof name, "/OMPIO_%s",
                     slash != NULL ? slash + 1 : f->path);
    if (comm_node_rank(ctx->comm) == 0 && n < (int)sizeof name)
        sem_unlink(name);
#else
    (void)ctx;
    (void)f;
#endif
}

/* No data sieving: a block is written as it is, never read, changed and written
 * back, which would need locks. Implementations ignore hints of others. */
static int use_mpi(struct ctx *ctx, struct h5 *f, hid_t access)
{
    const MPI_Comm *world = comm_handle(ctx->comm);
    MPI_Info hints;
    int failed;

    if (world == NULL)
        return 0;
    if (MPI_Info_create(&hints) != MPI_SUCCESS)
        return FAIL(ctx, STATUS_MPI, "MPI_Info_create failed");
    failed =
        MPI_Info_set(hints, "romio_ds_write", "disable") != MPI_SUCCESS ||
        MPI_Info_set(hints, "romio_cb_write", "automatic") != MPI_SUCCESS ||
        H5Pset_fapl_mpio(access, *world, hints) < 0 ||
        H5Pset_dxpl_mpio(f->transfer, H5FD_MPIO_INDEPENDENT) < 0 ||
        H5Pset_dxpl_mpio(f->together, H5FD_MPIO_COLLECTIVE) < 0;
    MPI_Info_free(&hints);
    if (failed)
        return h5_error(ctx, f, "prepare for MPI-IO");
    forget_semaphore(ctx, f);
    return 0;
}
#else
static int use_mpi(struct ctx *ctx, struct h5 *f, hid_t access)
{
    (void)ctx;
    (void)f;
    (void)access;
    return 0;
}
#endif

/* Metadata go to the disk in h5_flush() and at no other moment, which the cache
 * would choose. */
static int hold_metadata(hid_t access)
{
    H5AC_cache_config_t cache = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};

    if (H5Pget_mdc_config(access, &cache) < 0)
        return -1;
    cache.evictions_enabled = 0;
    cache.incr_mode = H5C_incr__off;
    cache.flash_incr_mode = H5C_flash_incr__off;
    cache.decr_mode = H5C_decr__off;
    return H5Pset_mdc_config(access, &cache) < 0 ? -1 : 0;
}

/* Links of the root stand in its header, with room for more of them, so that
 * adding one is one write near the beginning of the file, which is done or not
 * done. In a group of the old format names, order and addresses are three, and
 * a kill between two of them loses every link. */
hid_t h5_root(void)
{
    hid_t made = H5Pcreate(H5P_FILE_CREATE);

    if (made >= 0 &&
        (H5Pset_link_creation_order(made, H5P_CRT_ORDER_TRACKED) < 0 ||
         H5Pset_link_phase_change(made, ROOT_LINKS, ROOT_LINKS) < 0 ||
         H5Pset_est_link_info(made, ROOT_LINKS, 16) < 0)) {
        H5Pclose(made);
        made = H5I_INVALID_HID;
    }
    return made;
}

/* `sealed`: HDF5's metadata have checksums, which older formats lack. */
static int open_hdf5(struct ctx *ctx, struct h5 *f, int create, int sealed)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), root = h5_root();
    int status = 0;

    f->transfer = H5Pcreate(H5P_DATASET_XFER);
    f->together = H5Pcreate(H5P_DATASET_XFER);
    if (access < 0 || root < 0 || f->transfer < 0 || f->together < 0 ||
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0 ||
        (sealed && H5Pset_libver_bounds(access, H5F_LIBVER_V110,
                                        H5F_LIBVER_LATEST) < 0) ||
        (!sealed && hold_metadata(access) != 0))
        status = h5_error(ctx, f, "prepare");
    if (status == 0)
        status = use_mpi(ctx, f, access);
    status = comm_agree(ctx, status);
    if (status == 0) {
        f->file = !create ? H5Fopen(f->path, H5F_ACC_RDWR, access)
                          : H5Fcreate(f->path, H5F_ACC_TRUNC,
                                      sealed ? H5P_DEFAULT : root, access);
        if (f->file < 0)
            status = h5_error(ctx, f, create ? "create" : "open");
        status = comm_agree(ctx, status);
    }
    if (access >= 0)
        H5Pclose(access);
    if (root >= 0)
        H5Pclose(root);
    return status;
}

/* *out is there even where the file could not be opened. */
static int start(struct ctx *ctx, const char *path, int flags, int sealed,
                 double bytes, struct h5 **out)
{
    struct h5 *f = *out = h5_new(path);
    int status = 0;

    h5_silence();
    if (f == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY(comm_agree(ctx, status));
    TRY(touch_file(ctx, f, flags, bytes));
    return open_hdf5(ctx, f, flags & O_CREAT, sealed);
}

static int create(struct ctx *ctx, const char *path, int sealed, double bytes,
                  struct h5 **out)
{
    int status = start(ctx, path, O_CREAT | O_TRUNC, sealed, bytes, out);

    if (status != 0) {
        h5_discard(*out);
        *out = NULL;
    }
    return status;
}

int h5_create(struct ctx *ctx, const char *path, double bytes, struct h5 **out)
{
    return create(ctx, path, 0, bytes, out);
}

int h5_create_sealed(struct ctx *ctx, const char *path, double bytes,
                     struct h5 **out)
{
    return create(ctx, path, 1, bytes, out);
}

int h5_open(struct ctx *ctx, const char *path, struct h5 **out)
{
    int status = start(ctx, path, 0, 0, 0, out);

    if (status == 0) {
        (*out)->aside = h5_aside_name(path);
        if ((*out)->aside == NULL)
            status = FAIL(ctx, STATUS_MEMORY, "out of memory");
        status = comm_agree(ctx, status);
    }
    if (status != 0) {
        h5_abandon(*out);
        *out = NULL;
    }
    return status;
}
