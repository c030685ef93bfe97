# src/domain
libwarpdeck_a_SOURCES += \
	src/domain/block.c \
	src/domain/block.h \
	src/domain/exchange.c \
	src/domain/exchange.h \
	src/domain/field.h \
	src/domain/frames.h \
	src/domain/grid.c \
	src/domain/grid.h \
	src/domain/halo.c \
	src/domain/halo.h \
	src/domain/halo_messages.c \
	src/domain/halo_migrate.c \
	src/domain/halo_parts.h \
	src/domain/mesh.c \
	src/domain/mesh_messages.c \
	src/domain/mesh.h \
	src/domain/mesh_fft.c \
	src/domain/mesh_parts.h \
	src/domain/particles.h \
	src/domain/special.c \
	src/domain/state.h \
	src/domain/topology.c \
	src/domain/topology.h
libwarpdeck_a_SOURCES += src/domain/particles.c
