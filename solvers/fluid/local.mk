# solvers/fluid
libwarpdeck_a_SOURCES +=
