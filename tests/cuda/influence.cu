/* influence.cu: the influence function that a card has made for its mesh, in
 * double precision, for a test beside the CPU's.
 */
#include "kernels/md/mesh_cuda.h"

extern "C" int influence_of_card(struct ctx *ctx, struct md_store *s, size_t n,
                                 double *out)
{
    if (!s->mesh || s->mesh->influence.bytes < n * sizeof *out)
        return FAIL(ctx, STATUS_INTERNAL, "the card has no mesh of this size");
    return cuda_to_host(ctx, s->device, out, s->mesh->influence.p,
                        n * sizeof *out);
}
