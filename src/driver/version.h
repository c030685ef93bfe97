/* version.h: which program this is, for people and for the files it writes. */
#ifndef WARPDECK_DRIVER_VERSION_H
#define WARPDECK_DRIVER_VERSION_H

const char *version_number(void); /* "0.1.0" */
const char *version_git(void);    /* revision it was built from, or "unknown" */
const char *version_flags(void);  /* compiler and its flags */
/* "Open MPI v4.1.4, HDF5 1.10.8 (parallel), ..." */
const char *version_libraries(void);

#endif
