"""Drawings as pictures, PNG and SVG, for papers and slides: kaleido draws them with a Chromium of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from benchmarking.page.drawing import Drawing, Section
from benchmarking.page.layouts import HEIGHT, label
from definitions.errors import UserError
from definitions.files import replacing_with
from definitions.program import install_extra

FORMATS = ("png", "svg")
_WIDTH, _WIDE = 760, 1200
_SCALE = 2
_TITLE = 44
_INK, _PAPER, _GRID = "#1b1f24", "#ffffff", "#e4e7eb"
_TOP_LEFT = {"x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top"}
_TIMEOUT_S = 120.0

_GET_CHROMIUM = (
    "install one (apt-get install chromium, or kaleido_get_chrome, which comes with kaleido), "
    "or say where one is: BROWSER_PATH=/path/to/chromium"
)


def write_pictures(sections: Sequence[Section], folder: Path) -> list[Path]:
    """Write each drawing as IDENTITY.png and IDENTITY.svg, on white paper, and return the files.

    Args:
        sections: of a page.
        folder: where they go; it is made.

    Raises:
        UserError: kaleido or a Chromium is missing, or does not work; or a file cannot be written.
    """
    asked = f"--pictures {folder}"
    try:
        from kaleido import Kaleido
        from kaleido.errors import BrowserClosedError, BrowserFailedError, ChromeNotFoundError
    except ImportError:
        raise UserError(asked, "the package kaleido, which draws pictures, is not installed", install_extra("report")) from None
    try:
        # Its own way to typeset formulas would be asked for from the network.
        return asyncio.run(_written(Kaleido(n=1, timeout=_TIMEOUT_S, mathjax=False), sections, folder))
    except ChromeNotFoundError:
        raise UserError(asked, "no Chromium or Chrome, which draws pictures, is found on this machine", _GET_CHROMIUM) from None
    except (BrowserFailedError, BrowserClosedError, TimeoutError, OSError) as error:
        words = str(error.args[0]) if error.args else type(error).__name__
        raise UserError(asked, f"the browser that draws pictures does not work: {words}", _GET_CHROMIUM) from None


def picture(drawing: Drawing, title: str) -> dict[str, Any]:
    """Return a drawing as plotly's figure for a picture: on paper of its own, with a title, the legend below."""
    layout = {
        **drawing.layout,
        "paper_bgcolor": _PAPER,
        "plot_bgcolor": _PAPER,
        "font": {**drawing.layout.get("font", {}), "color": _INK, "family": "Helvetica, Arial, sans-serif"},
        "title": {"text": label(title, 100), "font": {"size": 15}, "pad": {"l": 12, "t": 12}, **_TOP_LEFT},
        "width": _WIDE if drawing.wide else _WIDTH,
        "height": int(drawing.layout.get("height", HEIGHT)) + _TITLE,
    }
    layout["margin"] = {**drawing.layout.get("margin", {}), "t": drawing.layout.get("margin", {}).get("t", 0) + _TITLE}
    layout["legend"] = {**drawing.layout.get("legend", {}), "y": 0, "yref": "container", "yanchor": "bottom"}
    for name in [name for name in layout if name.startswith(("xaxis", "yaxis"))]:
        layout[name] = {"gridcolor": _GRID, **layout[name]}
    return {"data": list(drawing.traces), "layout": layout}


async def _written(browser: Any, sections: Sequence[Section], folder: Path) -> list[Path]:
    return [path async for path in _each(browser, sections, folder)]


async def _each(browser: Any, sections: Sequence[Section], folder: Path) -> AsyncIterator[Path]:
    titled = [
        (drawing, section.title if drawing.title == section.title else f"{section.title}: {drawing.title}")
        for section in sections
        for drawing in section.drawings
    ]
    async with browser as drawer:
        for drawing, title in titled:
            figure = picture(drawing, title)
            size = {name: figure["layout"][name] for name in ("width", "height")}
            for form in FORMATS:
                made = await drawer.calc_fig(figure, opts={**size, "format": form, "scale": _SCALE if form == "png" else 1})
                path = folder / f"{drawing.identity}.{form}"
                with replacing_with(path) as temporary:
                    temporary.write_bytes(made)
                yield path
