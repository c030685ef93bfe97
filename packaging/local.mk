# packaging: recipes for clusters, and the module file of what is installed here:
#   module use PREFIX/share/warpdeck/modulefiles && module load warpdeck
EXTRA_DIST += packaging/spack/repo.yaml \
	packaging/spack/packages/warpdeck/package.py \
	packaging/apptainer/warpdeck.def \
	packaging/modulefile/warpdeck.tcl.in

modulefiledir = $(pkgdatadir)/modulefiles/warpdeck
nodist_modulefile_DATA = packaging/modulefile/$(VERSION)
CLEANFILES += packaging/modulefile/$(VERSION)
packaging/modulefile/$(VERSION): packaging/modulefile/warpdeck.tcl.in Makefile
	$(AM_V_GEN)$(MKDIR_P) packaging/modulefile && \
	sed -e 's|@VERSION[@]|$(VERSION)|' -e 's|@bindir[@]|$(bindir)|' \
		-e 's|@mandir[@]|$(mandir)|' -e 's|@datadir[@]|$(datadir)|' \
		-e 's|@prefix[@]|$(prefix)|' \
		'$(srcdir)/packaging/modulefile/warpdeck.tcl.in' > $@.new && \
	mv -f $@.new $@
