# kernels/md: one set of sources, compiled once per precision.
noinst_LIBRARIES += libmd_double.a libmd_mixed.a libmd_single.a
MD_LOOP_SOURCES = kernels/md/md_kernels.h

libmd_double_a_SOURCES = $(MD_LOOP_SOURCES)
libmd_double_a_CPPFLAGS = $(AM_CPPFLAGS) -DMD_PRECISION=1
libmd_mixed_a_SOURCES = $(MD_LOOP_SOURCES)
libmd_mixed_a_CPPFLAGS = $(AM_CPPFLAGS) -DMD_PRECISION=2
libmd_single_a_SOURCES = $(MD_LOOP_SOURCES)
libmd_single_a_CPPFLAGS = $(AM_CPPFLAGS) -DMD_PRECISION=3
