# src/io
libwarpdeck_a_SOURCES += \
	src/io/checkpoint.h \
	src/io/checkpoint_file.h \
	src/io/checkpoint_read.c \
	src/io/checkpoint_write.c \
	src/io/h5.c \
	src/io/h5.h \
	src/io/h5_block.c \
	src/io/h5_close.c \
	src/io/h5_cut.c \
	src/io/h5_mend.c \
	src/io/h5_meta.c \
	src/io/h5_set.c \
	src/io/h5md.c \
	src/io/h5md.h \
	src/io/h5md_file.h \
	src/io/h5md_particles.c \
	src/io/h5md_series.c \
	src/io/h5md_table.c \
	src/io/provenance.c \
	src/io/provenance.h \
	src/io/staged.c \
	src/io/staged.h \
	src/io/vtkhdf.c \
	src/io/vtkhdf.h \
	src/io/vtkhdf_series.c \
	src/io/vtkhdf_series.h
