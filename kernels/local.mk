# kernels
libwarpdeck_a_SOURCES += \
	kernels/device.h \
	kernels/rng.h
