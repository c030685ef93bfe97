"""The pages of the documentation lead somewhere."""

import os
import re

import tap
import tree

PAGES = [p for p in tree.files() if p.endswith(".md")]


def slug(heading):
    """What GitHub and others make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def headings(page):
    return {slug(found) for found in
            re.findall(r"^#+ (.*)$", tree.text(page), flags=re.M)}


broken = []
for page in PAGES:
    for target in re.findall(r"\]\(([^)\s]+)\)", tree.text(page)):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(page), path)) \
            if path else page
        if not os.path.exists(os.path.join(tree.TOP, there)):
            broken.append(f"{page}: {target}: no such file")
        elif anchor and anchor not in headings(there):
            broken.append(f"{page}: {target}: no such heading")
tree.report(broken, "every link leads to a file, and to a heading of it")

unlisted = [f"{page}: {title}" for page in PAGES
            if re.search(r"\]\(#", tree.text(page))
            for title in re.findall(r"^## (.*)$", tree.text(page), flags=re.M)
            if f"(#{slug(title)})" not in tree.text(page)]
tree.report(unlisted, "a page with a list of contents lists all of them")

tap.done()
