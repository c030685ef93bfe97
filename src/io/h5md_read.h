/* h5md_read.h: frames of particles from H5MD files, our own and those of others
 * (de Buyl, Colberg and Hoefling 2014, version 1.1). */
#ifndef WARPDECK_IO_H5MD_READ_H
#define WARPDECK_IO_H5MD_READ_H

#include "domain/frames.h"

extern const struct frames h5md_frame_reader;

#endif
