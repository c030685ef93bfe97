# src/base
libwarpdeck_a_SOURCES += \
	src/base/comm.h \
	src/base/ctx.h \
	src/base/error.h \
	src/base/deck.h \
	src/base/deck_toml.h \
	src/base/format.c \
	src/base/format.h \
	src/base/log.h \
	src/base/meters.c \
	src/base/meters.h \
	src/base/numeral.c \
	src/base/numeral.h \
	src/base/param.h \
	src/base/param_help.h \
	src/base/param_value.h \
	src/base/status.def \
	src/base/timer.h \
	src/base/units.h \
	src/base/worker.c \
	src/base/worker.h

libwarpdeck_a_SOURCES += \
	src/base/dimensions.h \
	src/base/error.c \
	src/base/log.c \
	src/base/timer.c
libwarpdeck_a_SOURCES += \
	src/base/deck.c \
	src/base/deck_error.c \
	src/base/deck_override.c \
	src/base/deck_toml.cpp \
	src/base/param.c \
	src/base/param_choice.c \
	src/base/param_convert.c \
	src/base/param_get.c \
	src/base/param_help.c \
	src/base/param_resolve.c \
	src/base/param_unknown.c \
	src/base/param_values.c \
	src/base/units.c
if WITH_MPI
libwarpdeck_a_SOURCES += \
	src/base/comm_mpi.h \
	src/base/comm_mpi.c \
	src/base/comm_mpi_agree.c \
	src/base/comm_mpi_exchange.c \
	src/base/comm_shared.c \
	src/base/comm_shared.h
else
libwarpdeck_a_SOURCES += src/base/comm_serial.c
endif
