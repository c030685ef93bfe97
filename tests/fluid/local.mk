# tests/fluid: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
