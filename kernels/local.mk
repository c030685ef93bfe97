# kernels
libwarpdeck_a_SOURCES += \
	kernels/device.c \
	kernels/device.h \
	kernels/devices.def \
	kernels/machine.c \
	kernels/machine.h \
	kernels/rng.c \
	kernels/rng.h
