# docs
dist_doc_DATA +=
