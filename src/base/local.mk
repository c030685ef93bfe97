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
