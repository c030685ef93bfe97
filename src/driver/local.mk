# src/driver: all but main.c is in the library, so that tests can call it.
libwarpdeck_a_SOURCES +=

bin_PROGRAMS += warpdeck
warpdeck_SOURCES = src/driver/main.c
warpdeck_LDADD = $(WARPDECK_LIBS)
