# src/io
libwarpdeck_a_SOURCES += \
	src/io/h5md.h
