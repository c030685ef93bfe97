/* checkpoint_file.h: what writing and reading of checkpoints share. Private to
 * src/io.
 */
#ifndef WARPDECK_IO_CHECKPOINT_FILE_H
#define WARPDECK_IO_CHECKPOINT_FILE_H

#include "io/checkpoint.h"
#include "io/h5.h"

enum { CHECKPOINT_TEXTS = 6, CHECKPOINT_NAME_MAX = 128 };

struct checkpoint {
    struct state_io io; /* first: a state_io is a checkpoint */
    struct h5 *h5;      /* writing */
    struct h5 reading;  /* reading: file and path only */
    char *path;
    struct checkpoint_header header;
    char *text[CHECKPOINT_TEXTS]; /* reading: what the header points to */
};

/* The texts of a header, and what they are called in the file. */
extern const char *const checkpoint_text_names[CHECKPOINT_TEXTS];
const char **checkpoint_text(struct checkpoint_header *header, int which);

hid_t checkpoint_memory_type(enum state_type type);
size_t checkpoint_item_size(enum state_type type);
/* Values in a block of `local`. */
int64_t checkpoint_count(int rank, const int64_t *local);

#endif
