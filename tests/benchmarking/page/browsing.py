"""A real browser that looks at a report: what it asked for, what went wrong, what is drawn."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
WIDTHS = (390, 1280)
LOOKS = ({"color_scheme": "light"}, {"color_scheme": "dark"}, {"media": "print"})

# Marks inside the plot areas: lines, points, bars, boxes; not axes, grids or legends. In one call, as a page has dozens of figures.
_MARKS = """
async () => {
  const drawn = ".plot .trace, .plot .point, .plot .points path, .plot .hm image, .shapelayer path";
  const isSeen = (mark) => { const box = mark.getBoundingClientRect(); return box.width > 0 || box.height > 0; };
  for (const folded of document.querySelectorAll("details:has(.plot)")) folded.open = true;
  const found = {};
  for (const figure of document.querySelectorAll("figure:has([data-plot])")) {
    const end = performance.now() + 90_000;
    figure.scrollIntoView({ behavior: "instant" });
    while (!figure.querySelector(".main-svg") && performance.now() < end) await new Promise(requestAnimationFrame);
    found[figure.id] = [...figure.querySelectorAll(drawn)].filter(isSeen).length;
  }
  return found;
}
"""


@dataclass
class Seen:
    """What happened while a page was open."""

    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Give a browser; the test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield started
        finally:
            started.close()


@contextlib.contextmanager
def opened(started: Any, address: str, width: int = 1280, **look: str) -> Iterator[tuple[Any, Seen]]:
    """Give a page that was opened and drawn, and what it asked for meanwhile."""
    seen = Seen()
    # Policies hold for the page, not for what a test evaluates in it.
    context = started.new_context(viewport={"width": width, "height": 900}, bypass_csp=False)
    context.set_default_timeout(90_000)
    page = context.new_page()
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("pageerror", lambda error: seen.faults.append(str(error)))
    page.on("console", lambda message: seen.faults.append(message.text) if message.type in ("error", "warning") else None)
    try:
        page.emulate_media(**look)
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        yield page, seen
    finally:
        context.close()


def marks(page: Any) -> dict[str, int]:
    """Return how many marks each figure on the page shows, when one has scrolled to it and unfolded what is folded."""
    return dict(page.evaluate(_MARKS))


def overflow(page: Any) -> int:
    """Return by how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def serious_faults(page: Any, source: Path | None = None) -> list[str]:
    """Return what axe-core finds that keeps people out: faults of the impacts serious and critical."""
    import axe_playwright_python

    script = source or Path(axe_playwright_python.__file__).parent / "axe.min.js"
    # Evaluated by the browser's own tools, as the page's policy lets no foreign script in.
    page.evaluate(script.read_text(encoding="utf-8") + "\n;0")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)")
    return [
        f"{fault['id']}: {fault['help']}: {[node['html'][:120] for node in fault['nodes'][:3]]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
