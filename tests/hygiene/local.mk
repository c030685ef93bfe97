# tests/hygiene: the tree itself.
HYGIENE_TESTS = \
	tests/hygiene/format.sh \
	tests/hygiene/harness.sh \
	tests/hygiene/layers.py \
	tests/hygiene/pages.py \
	tests/hygiene/params.py \
	tests/hygiene/scripts.sh \
	tests/hygiene/source.py
TESTS += $(HYGIENE_TESTS)
EXTRA_DIST += $(HYGIENE_TESTS) tests/hygiene/tree.py
