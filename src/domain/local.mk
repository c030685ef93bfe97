# src/domain
libwarpdeck_a_SOURCES += \
	src/domain/block.c \
	src/domain/block.h \
	src/domain/exchange.c \
	src/domain/exchange.h \
	src/domain/field.h \
	src/domain/grid.c \
	src/domain/grid.h \
	src/domain/halo.c \
	src/domain/halo.h \
	src/domain/particles.h \
	src/domain/state.h
libwarpdeck_a_SOURCES += src/domain/particles.c
