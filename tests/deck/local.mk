# tests/deck: units, decks and their keys.
DECK_UNIT_TESTS = \
	tests/deck/t_units \
	tests/deck/t_deck \
	tests/deck/t_params \
	tests/deck/t_faults \
	tests/deck/t_fuzz_deck
check_PROGRAMS += $(DECK_UNIT_TESTS)
TESTS += $(DECK_UNIT_TESTS)
tests_deck_t_units_SOURCES = tests/deck/t_units.c
tests_deck_t_units_LDADD = $(TEST_LIBS)
tests_deck_t_deck_SOURCES = tests/deck/t_deck.c
tests_deck_t_deck_LDADD = $(TEST_LIBS)
tests_deck_t_params_SOURCES = tests/deck/t_params.c
tests_deck_t_params_LDADD = $(TEST_LIBS)
tests_deck_t_faults_SOURCES = tests/deck/t_faults.c
tests_deck_t_faults_LDADD = $(TEST_LIBS)
tests_deck_t_fuzz_deck_SOURCES = tests/deck/t_fuzz_deck.c
tests_deck_t_fuzz_deck_LDADD = $(TEST_LIBS)
