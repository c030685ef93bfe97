# tests/deck: units, decks and their keys.
DECK_UNIT_TESTS = \
	tests/deck/t_numeral \
	tests/deck/t_units \
	tests/deck/t_deck \
	tests/deck/t_params \
	tests/deck/t_mistakes \
	tests/deck/t_faults \
	tests/deck/t_fuzz_deck
check_PROGRAMS += $(DECK_UNIT_TESTS)
TESTS += $(DECK_UNIT_TESTS)
tests_deck_t_numeral_SOURCES = tests/deck/t_numeral.c
tests_deck_t_numeral_LDADD = $(TEST_LIBS)
tests_deck_t_units_SOURCES = tests/deck/t_units.c
tests_deck_t_units_LDADD = $(TEST_LIBS)
tests_deck_t_deck_SOURCES = tests/deck/t_deck.c
tests_deck_t_deck_LDADD = $(TEST_LIBS)
tests_deck_t_params_SOURCES = tests/deck/t_params.c tests/deck/toy_tables.h
tests_deck_t_params_LDADD = $(TEST_LIBS)
tests_deck_t_mistakes_SOURCES = tests/deck/t_mistakes.c \
	tests/deck/toy_tables.h
tests_deck_t_mistakes_LDADD = $(TEST_LIBS)
tests_deck_t_faults_SOURCES = tests/deck/t_faults.c
tests_deck_t_faults_LDADD = $(TEST_LIBS)
tests_deck_t_fuzz_deck_SOURCES = tests/deck/t_fuzz_deck.c tests/fuzz.h
tests_deck_t_fuzz_deck_LDADD = $(TEST_LIBS)
# The reader with every access watched, also in an ordinary build.
if CAN_SANITIZE
if !SANITIZE
# What the sanitizers insert makes gcc warn of what cannot be.
FUZZ_WATCHED = -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-Wno-error
tests_deck_t_fuzz_deck_SOURCES += \
	src/base/deck.c \
	src/base/deck_error.c \
	src/base/deck_override.c \
	src/base/deck_toml.cpp \
	src/base/numeral.c \
	src/base/param.c \
	src/base/param_choice.c \
	src/base/param_convert.c \
	src/base/param_get.c \
	src/base/param_resolve.c \
	src/base/param_unknown.c \
	src/base/units.c
# Whole seconds of compiling otherwise.
%t_fuzz_deck-deck_toml.o: CXXFLAGS += -Og
endif
endif
tests_deck_t_fuzz_deck_CFLAGS = $(AM_CFLAGS) $(FUZZ_WATCHED)
tests_deck_t_fuzz_deck_CXXFLAGS = $(AM_CXXFLAGS) $(FUZZ_WATCHED)
tests_deck_t_fuzz_deck_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS) $(FUZZ_WATCHED)

DECK_SCRIPT_TESTS = \
	tests/deck/cases.py \
	tests/deck/resolved.py \
	tests/deck/help.py
TESTS += $(DECK_SCRIPT_TESTS)
EXTRA_DIST += $(DECK_SCRIPT_TESTS) \
	tests/deck/cases/bad_choice.toml \
	tests/deck/cases/crlf.toml \
	tests/deck/cases/cutoff_over_half_box.toml \
	tests/deck/cases/duplicate_key.toml \
	tests/deck/cases/empty.toml \
	tests/deck/cases/inf_cutoff.toml \
	tests/deck/cases/missing_solver.toml \
	tests/deck/cases/negative_steps.toml \
	tests/deck/cases/small_melt.toml \
	tests/deck/cases/tabs.toml \
	tests/deck/cases/too_short_vector.toml \
	tests/deck/cases/two_errors.toml \
	tests/deck/cases/unclosed_array.toml \
	tests/deck/cases/unit_in_lj.toml \
	tests/deck/cases/unknown_key.toml \
	tests/deck/cases/unknown_section.toml \
	tests/deck/cases/wrong_type.toml \
	tests/deck/golden/bad_choice.txt \
	tests/deck/golden/cutoff_over_half_box.txt \
	tests/deck/golden/duplicate_key.txt \
	tests/deck/golden/empty.txt \
	tests/deck/golden/inf_cutoff.txt \
	tests/deck/golden/missing_solver.txt \
	tests/deck/golden/negative_steps.txt \
	tests/deck/golden/too_short_vector.txt \
	tests/deck/golden/two_errors.txt \
	tests/deck/golden/unclosed_array.txt \
	tests/deck/golden/unit_in_lj.txt \
	tests/deck/golden/unknown_key.txt \
	tests/deck/golden/unknown_section.txt \
	tests/deck/golden/wrong_type.txt
