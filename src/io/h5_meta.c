#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/h5.h"

int h5_group(struct ctx *ctx, struct h5 *f, const char *path)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t group = H5I_INVALID_HID;
    int status = 0;

    if (links >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0)
        group = H5Gcreate2(f->file, path, links, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        status = h5_error(ctx, f, "make the group '%s'", path);
    else
        H5Gclose(group);
    if (links >= 0)
        H5Pclose(links);
    return status;
}

int h5_exists(const struct h5 *f, const char *path)
{
    char *part = strdup(path);
    int there = part != NULL;

    for (char *c = part; there && c != NULL;) {
        c = strchr(c + 1, '/');
        if (c != NULL)
            *c = '\0';
        there = H5Lexists(f->file, part, H5P_DEFAULT) > 0;
        if (c != NULL)
            *c = '/';
    }
    free(part);
    return there;
}

int h5_remove(struct ctx *ctx, struct h5 *f, const char *path)
{
    if (h5_exists(f, path) && H5Ldelete(f->file, path, H5P_DEFAULT) < 0)
        return h5_error(ctx, f, "remove '%s'", path);
    return 0;
}

int h5_link(struct ctx *ctx, struct h5 *f, const char *existing,
            const char *path)
{
    if (H5Lcreate_hard(f->file, existing, f->file, path, H5P_DEFAULT,
                       H5P_DEFAULT) < 0)
        return h5_error(ctx, f, "link '%s' to '%s'", path, existing);
    return 0;
}

int h5_detach(struct ctx *ctx, struct h5 *f)
{
    hid_t group = H5Gcreate_anon(f->file, H5P_DEFAULT, H5P_DEFAULT);
    int status = group < 0 ? h5_error(ctx, f, "make a group") : 0;

    status = h5_agree(ctx, f, status);
    if (status != 0)
        return status;
    f->whole = f->file;
    f->file = group;
    return 0;
}

int h5_attach(struct ctx *ctx, struct h5 *f, const char *path, int status)
{
    hid_t group = f->file;

    if (status == 0)
        status = h5_flush(ctx, f);
    f->file = f->whole;
    f->whole = H5I_INVALID_HID;
    if (status == 0 &&
        H5Olink(group, f->file, path, H5P_DEFAULT, H5P_DEFAULT) < 0)
        status = h5_error(ctx, f, "name the group '%s'", path);
    status = h5_agree(ctx, f, status);
    if (!f->broken)
        H5Gclose(group);
    return status != 0 ? status : h5_flush(ctx, f);
}

int h5_share_text(struct ctx *ctx, const char *text, size_t size, char **out,
                  size_t *out_size)
{
    uint64_t n = size;
    int status = 0;

    *out = NULL;
    TRY(comm_bcast(ctx, &n, sizeof n));
    *out = malloc((size_t)n + 1);
    if (*out == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for %zu bytes of text",
                      (size_t)n);
    TRY_CLEANUP(comm_agree(ctx, status));
    if (comm_rank(ctx->comm) == 0 && n > 0)
        memcpy(*out, text, (size_t)n);
    if (n > 0)
        TRY_CLEANUP(comm_bcast(ctx, *out, (size_t)n));
    (*out)[n] = '\0';
    *out_size = (size_t)n;
    return 0;
cleanup:
    free(*out);
    *out = NULL;
    return status;
}

/* Make the attribute, or find the one that is there, and write it. By way of
 * the opened object: HDF5 1.10.8 cannot write an attribute that was opened by
 * its object's name. */
static int put_attribute(struct ctx *ctx, struct h5 *f, const char *object,
                         const char *name, hid_t file_type, hid_t memory_type,
                         hid_t space, const void *values)
{
    hid_t owner = H5Oopen(f->file, object, H5P_DEFAULT);
    hid_t attribute = H5I_INVALID_HID;
    htri_t there = owner < 0 ? -1 : H5Aexists(owner, name);
    int status = 0;

    if (there > 0)
        attribute = H5Aopen(owner, name, H5P_DEFAULT);
    else if (there == 0)
        attribute =
            H5Acreate2(owner, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, memory_type, values) < 0)
        status =
            h5_error(ctx, f, "write the attribute '%s' of '%s'", name, object);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (owner >= 0)
        H5Oclose(owner);
    return status;
}

/* The space of n values; a scalar for one. */
static hid_t space_of(int n)
{
    hsize_t dims[1] = {(hsize_t)n};

    return n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, dims, NULL);
}

static hid_t text_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    if (type >= 0 &&
        (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        type = H5I_INVALID_HID;
    }
    return type;
}

static int put_values(struct ctx *ctx, struct h5 *f, const char *object,
                      const char *name, int n, hid_t file_type,
                      hid_t memory_type, const void *values)
{
    hid_t space = space_of(n);
    int status;

    if (space < 0)
        return h5_error(ctx, f, "describe the attribute '%s'", name);
    status = put_attribute(ctx, f, object, name, file_type, memory_type, space,
                           values);
    H5Sclose(space);
    return status;
}

/* Texts of variable length stand outside the object's header, so that they may
 * exceed its 64 KiB; h5py gives them as str, and MDAnalysis compares units with
 * str. */
int h5_text(struct ctx *ctx, struct h5 *f, const char *object, const char *name,
            const char *text)
{
    hid_t type = H5I_INVALID_HID;
    char *shared;
    size_t size;
    int status;

    if (text == NULL)
        text = "";
    TRY(h5_share_text(ctx, text, strlen(text), &shared, &size));
    type = text_type(H5T_VARIABLE);
    if (type < 0)
        status = h5_error(ctx, f, "describe the attribute '%s'", name);
    else
        status = put_values(ctx, f, object, name, 1, type, type, &shared);
    if (type >= 0)
        H5Tclose(type);
    free(shared);
    return status;
}

int h5_ascii(struct ctx *ctx, struct h5 *f, const char *object,
             const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    int status;

    if (type >= 0 && H5Tset_size(type, strlen(text)) >= 0 &&
        H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0)
        status = put_values(ctx, f, object, name, 1, type, type, text);
    else
        status = h5_error(ctx, f, "describe the attribute '%s'", name);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

int h5_fixed_texts(struct ctx *ctx, struct h5 *f, const char *object,
                   const char *name, size_t n, const char *const *texts)
{
    size_t length = 1;
    hid_t type;
    char *packed;
    int status;

    for (size_t i = 0; i < n; i++)
        if (strlen(texts[i]) > length)
            length = strlen(texts[i]);
    packed = calloc(n, length);
    if (packed == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++)
        memcpy(packed + i * length, texts[i], strlen(texts[i]));
    type = text_type(length);
    if (type >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0)
        status = put_values(ctx, f, object, name, (int)n, type, type, packed);
    else
        status = h5_error(ctx, f, "describe the attribute '%s'", name);
    if (type >= 0)
        H5Tclose(type);
    free(packed);
    return status;
}

int h5_ints(struct ctx *ctx, struct h5 *f, const char *object, const char *name,
            int n, const int64_t *values)
{
    return put_values(ctx, f, object, name, n, H5T_STD_I64LE, H5T_NATIVE_INT64,
                      values);
}

int h5_doubles(struct ctx *ctx, struct h5 *f, const char *object,
               const char *name, int n, const double *values)
{
    return put_values(ctx, f, object, name, n, H5T_IEEE_F64LE,
                      H5T_NATIVE_DOUBLE, values);
}
