# timeout: 200
"""warpdeck-post report: one page that needs nothing else, seen by a browser."""

import os
import re
import tap

h5py, numpy = tap.need("h5py", "numpy")
tap.need("matplotlib")
import browser  # noqa: E402
import post  # noqa: E402

LOG = """Warpdeck 0.1.0  (git 123)   md   run   400 particles
warning: the deck asks for much <memory> & more
100 steps in 0.49 s: 6.54 M atom-steps/s, 180 M pairs in range/s
  phase        pair  output    list   other
  time         61 %    19 %   9.5 %   0.2 %
  memory of a rank: 8.21 MB of atom data
  12.5 GFLOP/s, 41 % of the measured FMA peak
wrote run.h5 (6 frames, 9.86 MB) and run.log
"""
PAGES = {"run": ("Crystal", ["400 particles", "61 %", "41 % of the measured",
                             "much <memory> & more", "6.54 M atom-steps/s",
                             "temperature", "radial_distribution/A-A"]),
         "killed": ("test", ["not complete", "400 particles"]),
         "flow": ("flow", ["kinetic energy", "step 10 of 10", "profiles"]),
         "flow_000005": ("flow", ["6 x 5 x 4 cells", "velocity z", "greatest"]),
         "book": ("book", ["risk/instruments", "call", "8192 paths"])}


def content(page):
    with open(page, encoding="utf-8") as f:
        return f.read()


def check_pages():
    for name in PAGES:
        file = name + (".hdf" if "0" in name else ".h5")
        tap.ok(post.works(post.post("report", file), f"wrote {name}.html"),
               f"{file} has a page")
    texts = [content(name + ".html") for name in PAGES]
    outside = [re.findall(r'(?:src|href)="(?!data:)[^"]*|url\([^)]*|@import',
                          t) for t in texts]
    tap.is_(outside, [[]] * len(PAGES), "no page refers to anything outside")
    tap.ok(all("<tbody></tbody>" not in t for t in texts), "no table is empty")
    tap.ok(all("<script" not in t for t in texts), "and none runs a program")
    os.makedirs("år 1", exist_ok=True)
    tap.ok(post.works(post.post("report", "killed.h5", "-o", "år 1/a b.html")),
           "the page goes where it is wanted")
    tap.ok(content("killed.html") == content("år 1/a b.html"),
           "the same file gives the same page")


def check_errors():
    tap.ok(post.refused(post.post("report", "run.h5", "-o", "no/x.html"),
                        "cannot write"), "a missing folder is named")
    tap.ok(post.refused(post.post("report", "run.h5", "-o", "run.h5"),
                        "itself"), "a page does not replace its file")
    tap.ok(post.works(post.post("report", "nothing.h5")) and
           "nothing to draw yet" in content("nothing.html"),
           "a file without rows and frames has a page that says so")


def seen(b, name):
    """Problems with a page in the browser."""
    title, words = PAGES[name]
    b.open(name + ".html")
    text = b.value("document.documentElement.textContent")
    sizes = b.value("[...document.images].map(i => Math.min(i.naturalWidth, "
                    "i.naturalHeight))")
    found = [f"no '{w}'" for w in words if w not in text]
    if b.value("document.title") != title:
        found.append("title " + b.value("document.title"))
    if not sizes or min(sizes) < 100:
        found.append(f"pictures of {sizes}")
    asked = [u for u in b.requests() if not u.endswith(f"/{name}.html")]
    return found + b.complaints() + asked


def check_browser():
    if browser.program() is None:
        tap.skip(len(PAGES) + 5, "no Chromium here")
        return
    with browser.Browser(os.path.abspath("profile")) as b:
        for name in PAGES:
            tap.is_(seen(b, name), [], f"the page of {name} has its title, its "
                    "words and its pictures, asks for nothing and complains of "
                    "nothing")
        wide = "document.documentElement.scrollWidth"
        b.look(width=360, height=700)  # that of the book
        on_phone = b.value(wide)
        b.look(width=700, paper=True)  # A4 between its margins
        printed = b.value(wide)
        b.open("run.html", width=360, height=700)
        tap.is_((on_phone, b.value(wide)), (360, 360),
                "on a phone nothing is wider than the screen")
        tap.ok(b.value("[...document.querySelectorAll('.key b, td, p, h1')]"
                       ".every(e => parseFloat(getComputedStyle(e).fontSize)"
                       " >= 12)"), "and nothing too small to read")
        back = "getComputedStyle(document.body).backgroundColor"
        light = b.value(back)
        b.look(dark=True)
        tap.ok(light == "rgb(255, 255, 255)" and b.value(back) != light,
               "in the dark the page is dark")
        b.look(width=700, paper=True, dark=True)
        tap.is_(b.value(back), light, "and on paper it is white")
        tap.is_((printed, b.value(wide)), (700, 700),
                "where nothing is wider than the sheet")


post.quick()
post.particles("run.h5", particles=400, frames=3, rows=41, table=1,
               deck_bytes=38, title="Crystal")
post.particles("killed.h5", particles=400, frames=9, kill_after=2)
post.particles("nothing.h5", frames=0)
post.flow()
post.risk()
with open("run.log", "w", encoding="utf-8") as log:
    log.write(LOG)
check_pages()
check_errors()
check_browser()
tap.done()
