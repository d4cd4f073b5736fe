"""The page as HTML: one file, which by its own policy can ask nothing of any network."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from benchmarking.page.drawing import Drawing, Page, Section
from benchmarking.page.html import Html, data_block, element, escaped, joined, shortened
from benchmarking.page.layouts import HEIGHT
from benchmarking.page.library import DrawingLibrary, script_checksum
from benchmarking.page.tables import render_table
from definitions.program import install_extra

WITHOUT_PLOTLY = f"Figures are not drawn, as the package plotly is not installed: {install_extra('report')}, then make the report again."


def render(page: Page, library: DrawingLibrary | None, *, version: str = "") -> str:
    """Return a report as the text of an HTML file.

    Args:
        page: what it holds.
        library: what draws; None for tables only.
        version: of a report that a server gives, which the page asks whether there is a later one; empty for a file.
    """
    served = bool(version)
    script = _resource("page.js")
    scripts = [script, _resource("served.js")] if served else [script]
    sections = [_section(one, library is not None) for one in page.sections]
    links = [_link(one.title, one.identity) for one in page.sections]
    body = [
        element(
            "header",
            element("h1", shortened(page.title)),
            element("p", page.about, class_="soft"),
            element("nav", element("ul", _link("Verdicts", "verdicts"), *links), aria_label="Sections"),
        ),
        element("main", _verdicts(page), *([] if library is not None else [element("p", WITHOUT_PLOTLY, class_="missing")]), *sections),
    ]
    if library is not None:
        body.append(Html(f'<script type="text/plain" id="plotly">{library.packed}</script>'))
    body += [Html(f"<script>{text}</script>") for text in scripts]
    head = [
        Html('<meta charset="utf-8">'),
        element("meta", http_equiv="Content-Security-Policy", content=policy(scripts, library, served=served)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", shortened(page.title)),
        Html(f"<style>{_resource('page.css')}</style>"),
    ]
    parts = element("head", *head), element("body", joined(body, "\n"))
    return f"<!doctype html>\n{element('html', *parts, lang='en', data_version=version or None)}\n"


def policy(scripts: Sequence[str], library: DrawingLibrary | None, *, served: bool = False) -> str:
    """Return the page's Content-Security-Policy: no request, and no script but those that are named by their checksums.

    Args:
        scripts: texts of the inline scripts.
        library: what draws; None where nothing is drawn.
        served: whether the page may ask the server that it came from.
    """
    known = [script_checksum(text.encode()) for text in scripts] + ([library.checksum] if library is not None else [])
    allowed = {
        "default-src": "'none'",
        "script-src": " ".join(f"'sha256-{checksum}'" for checksum in known),
        "style-src": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if served:
        allowed["connect-src"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def _link(title: str, identity: str) -> Html:
    return element("li", element("a", title, href=f"#{identity}"))


_OF_NOTES = ("left out", "counted once", "went least far", "is not ranked", "both had done the same ")
"""Words of sentences that stand among the verdicts and are none."""


def _verdicts(page: Page) -> Html:
    lines = [element("li", line, class_=_kind(line)) for line in page.verdicts]
    found = [element("h2", "Verdicts", id="verdicts"), element("ul", *lines, class_="verdicts") if lines else element("p", "None yet.")]
    if page.advice:
        found.append(element("p", page.advice))
    if page.warnings:
        found += [element("h3", "To know first"), element("ul", *(element("li", line) for line in page.warnings), class_="warnings")]
    return element("section", *found, aria_labelledby="verdicts")


def _kind(verdict: str) -> str | None:
    if " better than " in verdict or " sooner than " in verdict:
        return "better"
    return "note" if any(words in verdict for words in _OF_NOTES) else None


def _section(section: Section, drawn: bool) -> Html:
    parts: list[Html] = [element("h2", section.title, id=section.identity)]
    parts += _notes(section.notes)
    parts += [render_table(table) for table in section.tables]
    if section.terms:
        meanings = element("dl", *(part for term, text in section.terms for part in (element("dt", term), element("dd", text))))
        parts.append(element("details", element("summary", "What the words mean"), meanings, open=True))
    parts += [element("details", element("summary", table.caption), render_table(table), data_print="no") for table in section.folded]
    if section.drawings:
        shown = element("div", *(_figure(one, section.title, drawn) for one in section.drawings), class_="figures")
        count = len(section.drawings)
        words = f"Show {count} figures" if count > 1 else "Show the figure"
        parts.append(element("details", element("summary", words), shown) if section.closed else shown)
    return element("section", *parts, aria_labelledby=section.identity)


def _notes(notes: Sequence[str]) -> list[Html]:
    if len(notes) < 2:
        return [element("p", note, class_="about") for note in notes]
    return [element("ul", *(element("li", note) for note in notes), class_="about notes")]


def _figure(drawing: Drawing, section: str, drawn: bool) -> Html:
    block = f"data-{drawing.identity}"
    # A figure that is all of its section has its title there.
    parts = [] if drawing.title == section else [element("figcaption", element("h3", drawing.title))]
    if drawn:
        # It has its height before it is drawn, so that nothing moves when it is.
        height = f"min-height:{int(drawing.layout.get('height', HEIGHT))}px"
        place = element("div", class_="plot", style=height, role="img", aria_label=f"{drawing.title}. {drawing.about}", data_plot=block)
        parts += [place, data_block(block, {"traces": drawing.traces, "layout": drawing.layout})]
    if drawing.table is not None:
        table = render_table(drawing.table)
        # Where nothing is drawn the numbers are all there is, so they are not folded away.
        parts.append(
            element("details", element("summary", "Numbers of this figure"), table, open=not drawn, data_print="no" if drawn else None)
        )
    return element("figure", *parts, id=drawing.identity, class_="wide" if drawing.wide else None)


def _resource(name: str) -> str:
    return escaped(Html(files("benchmarking.page").joinpath(name).read_text(encoding="utf-8")))
