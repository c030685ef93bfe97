# docs
dist_doc_DATA += README.md CHANGES docs/md.md
