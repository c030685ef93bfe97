"""Pieces of a self-contained page: nothing is fetched, nothing runs."""

import base64
import html

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5a6470;
  --line: #d8dee6; --paper: #ffffff; --card: #f5f7fa; --accent: #0072b2;
  --good: #00734f; --bad: #b04a00; --bar: #56b4e9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b1;
  --line: #343b45; --paper: #14171b; --card: #1d2127; --accent: #6cbcf0;
  --good: #41c79a; --bad: #ff9d5c; --bar: #2d7fb0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 68rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .2rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; padding-bottom: .2rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
.sub { color: var(--soft); margin: 0; overflow-wrap: anywhere; }
.state { display: inline-block; font-size: .85rem; font-weight: 600;
  padding: .1rem .6rem; border-radius: 1rem; border: 1px solid currentColor;
  color: var(--good); margin: .5rem 0; }
.state.bad { color: var(--bad); }
.keys { display: grid; gap: .7rem; margin: 1rem 0;
  grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); }
.key { background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; padding: .6rem .8rem; }
.key b { display: block; font-size: 1.25rem; overflow-wrap: anywhere; }
.key span { color: var(--soft); font-size: .85rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.w { overflow-wrap: anywhere; min-width: 6.5rem; }
figure { margin: 0 0 1.2rem; }
figure img { display: block; width: 100%; height: auto; background: #fff;
  border: 1px solid var(--line); border-radius: .5rem; }
figcaption { color: var(--soft); font-size: .85rem; margin-top: .2rem; }
@media (prefers-color-scheme: dark) { figure img.lines {
  filter: invert(.9) hue-rotate(180deg); } }
.half { max-width: 34rem; }
pre { background: var(--card); border: 1px solid var(--line); padding: .8rem;
  border-radius: .5rem; overflow-x: auto; font-size: .82rem; line-height: 1.45;
  tab-size: 4; }
.comment { color: var(--soft); } .section { color: var(--accent);
  font-weight: 600; }
.bars { display: grid; grid-template-columns: max-content 1fr max-content;
  gap: .25rem .7rem; align-items: center; font-size: .9rem; max-width: 40rem; }
.bars i { height: .9rem; background: var(--bar); border-radius: .2rem;
  min-width: 1px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
ul.notes { padding-left: 1.2rem; } li.bad { color: var(--bad); }
summary { cursor: pointer; color: var(--accent); }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .85rem; }
@media (max-width: 34rem) { body { padding: .8rem; font-size: 15px; }
  h1 { font-size: 1.35rem; } }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff;
  --card: #fff; --accent: #00507e; --good: #00583c; --bad: #8a3a00;
  color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  figure, .key, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  details::details-content { content-visibility: visible; display: block;
    height: auto; } figure img.lines { filter: none; }
  .wide { overflow: visible; } table { font-size: 8.5pt; }
  th, td { padding-right: .45rem; overflow-wrap: anywhere; }
  td.w { min-width: 0; } table.many { font-size: 6pt; }
  table.many td, table.many th { padding-right: .25rem; }
  td.n, th.n { white-space: normal; } }
"""

# The browser itself refuses what is not in the page.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def text(value):
    return html.escape(str(value), quote=True)


def number(value):
    """A cell's value as people read it."""
    if isinstance(value, float):
        return f"{value:.7g}"
    return str(value)


def table(heads, rows, limit=None):
    """Numbers to the right; a line says what `limit` leaves out."""
    shown = rows if limit is None else rows[:limit]
    right = [bool(rows) and not isinstance(rows[0][i], str)
             for i in range(len(heads))]
    kind = [' class="n"' if r else ' class="w"' for r in right]
    many = ' class="many"' if len(heads) > 8 else ""
    out = [f'<div class="wide"><table{many}><thead><tr>']
    out += [f"<th{k if r else ''}>{text(h)}</th>"
            for h, k, r in zip(heads, kind, right)]
    out.append("</tr></thead><tbody>\n")
    for row in shown:
        out.append("<tr>" + "".join(
            f"<td{k}>{text(number(v))}</td>" for v, k in zip(row, kind))
            + "</tr>\n")
    out.append("</tbody></table></div>")
    if len(shown) < len(rows):
        out.append(f'<p class="sub">The first {len(shown)} of {len(rows)} '
                   "rows; all of them: warpdeck-post export --to csv</p>")
    return "".join(out)


def pairs(items):
    """A table of names and words; nothing where there are none."""
    rows = "".join(f'<tr><th>{text(k)}</th><td class="w">{text(v)}</td></tr>\n'
                   for k, v in items if v not in (None, ""))
    if not rows:
        return ""
    return f'<div class="wide"><table><tbody>{rows}</tbody></table></div>'


def keys(items):
    """The few numbers that matter, large."""
    return '<div class="keys">' + "".join(
        f'<div class="key"><span>{text(name)}</span><b>{text(value)}</b>'
        f"<span>{text(note)}</span></div>\n" for name, value, note in items
    ) + "</div>"


def picture(data, kind, caption):
    """`data`: the bytes of a picture; SVG of lines turns dark by itself."""
    mime, mark = ("image/svg+xml", ' class="lines"') if kind == "svg" else (
        "image/png", "")
    return (f'<figure><img{mark} alt="{text(caption)}" src="data:{mime};base64,'
            f'{base64.b64encode(data).decode("ascii")}"><figcaption>'
            f"{text(caption)}</figcaption></figure>\n")


def bars(items):
    """Shares in percent."""
    most = max((share for _, share in items), default=0) or 1
    return '<div class="bars">' + "".join(
        f'<span>{text(name)}</span><i style="width:{100 * share / most:.1f}%">'
        f"</i><span>{share:g} %</span>\n" for name, share in items) + "</div>"


def deck(source):
    """Its lines, with sections and comments set off."""
    out = []
    for line in source.splitlines():
        if line.lstrip().startswith("#"):
            out.append(f'<span class="comment">{text(line)}</span>')
        elif line.lstrip().startswith("["):
            out.append(f'<span class="section">{text(line)}</span>')
        else:
            out.append(text(line))
    return "<pre>" + "\n".join(out) + "</pre>"


def notes(items, bad=False):
    mark = ' class="bad"' if bad else ""
    return '<ul class="notes">' + "".join(
        f"<li{mark}>{text(t)}</li>" for t in items) + "</ul>"


def section(title, *parts):
    """Nothing where all parts are empty."""
    body = "".join(p for p in parts if p)
    return f"<section><h2>{text(title)}</h2>\n{body}</section>\n" if body else ""


def folded(title, body):
    return f"<details><summary>{text(title)}</summary>{body}</details>"


def whole(title, body):
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
            '<meta name="viewport" content="width=device-width, '
            'initial-scale=1">\n<link rel="icon" href="data:,">\n'
            f"<title>{text(title)}</title>\n<style>{STYLE}</style></head>\n"
            f"<body>\n{body}</body></html>\n")
