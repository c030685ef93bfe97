# postproc: warpdeck-post and its Python package. The launcher runs in place,
# too; the installed copy knows the interpreter that configure found, and where
# the package lies.
POST_FILES = \
	postproc/warpdeck_post/__init__.py \
	postproc/warpdeck_post/archive.py \
	postproc/warpdeck_post/chunks.py \
	postproc/warpdeck_post/cli.py \
	postproc/warpdeck_post/curves.py \
	postproc/warpdeck_post/diff.py \
	postproc/warpdeck_post/errors.py \
	postproc/warpdeck_post/export.py \
	postproc/warpdeck_post/facts.py \
	postproc/warpdeck_post/fields.py \
	postproc/warpdeck_post/flow_panels.py \
	postproc/warpdeck_post/frame.py \
	postproc/warpdeck_post/gather.py \
	postproc/warpdeck_post/labels.py \
	postproc/warpdeck_post/logs.py \
	postproc/warpdeck_post/md_panels.py \
	postproc/warpdeck_post/opening.py \
	postproc/warpdeck_post/page.py \
	postproc/warpdeck_post/panels.py \
	postproc/warpdeck_post/particles.py \
	postproc/warpdeck_post/plot.py \
	postproc/warpdeck_post/rays.py \
	postproc/warpdeck_post/render.py \
	postproc/warpdeck_post/report.py \
	postproc/warpdeck_post/result.py \
	postproc/warpdeck_post/risk_panels.py \
	postproc/warpdeck_post/show.py \
	postproc/warpdeck_post/spheres.py \
	postproc/warpdeck_post/vtkscene.py \
	postproc/warpdeck_post/vtr.py \
	postproc/warpdeck_post/watch.py
nobase_dist_pkgdata_DATA += $(POST_FILES) \
	postproc/paraview/particles.py postproc/paraview/q_surface.py
EXTRA_DIST += postproc/warpdeck-post

bin_SCRIPTS += postproc/installed/warpdeck-post
CLEANFILES += postproc/installed/warpdeck-post
postproc/installed/warpdeck-post: postproc/warpdeck-post Makefile
	$(AM_V_GEN)$(MKDIR_P) postproc/installed && \
	python='$(PYTHON)'; \
	$(SED) -e "1s|.*|#!$${python:-/usr/bin/env python3}|" \
		-e 's|^INSTALLED = .*|INSTALLED = "$(pkgdatadir)/postproc"|' \
		'$(srcdir)/postproc/warpdeck-post' > $@.new && \
	chmod +x $@.new && mv -f $@.new $@
