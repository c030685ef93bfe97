# inputs: decks, installed to $(pkgdatadir)/inputs.
nobase_dist_pkgdata_DATA +=
