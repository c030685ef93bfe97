# src/base
libwarpdeck_a_SOURCES += \
	src/base/comm.h \
	src/base/ctx.h \
	src/base/error.h \
	src/base/log.h \
	src/base/param.h \
	src/base/status.def \
	src/base/timer.h \
	src/base/units.h

libwarpdeck_a_SOURCES += \
	src/base/error.c \
	src/base/log.c \
	src/base/timer.c
if WITH_MPI
libwarpdeck_a_SOURCES += \
	src/base/comm_mpi.h \
	src/base/comm_mpi.c \
	src/base/comm_mpi_exchange.c
else
libwarpdeck_a_SOURCES += src/base/comm_serial.c
endif
