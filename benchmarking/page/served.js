"use strict";
// A served report asks every few seconds whether there is a later one, and then loads itself anew, as the reader left it.
(() => {
  const KEPT = "outrider report: opened";
  const folded = () => [...document.querySelectorAll("details")];
  const nameOf = (one) => `${one.closest("figure, section")?.id ?? ""} ${one.querySelector("summary")?.textContent ?? ""}`;

  try {
    const opened = new Set(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]"));
    for (const one of folded()) if (opened.has(nameOf(one))) one.open = true;
  } catch {
    // Nothing was kept.
  }

  async function look() {
    try {
      // The browser keeps what it has got: where there is no news, none is sent again.
      const answer = await fetch("figures.json", { cache: "no-cache" });
      const version = answer.headers.get("etag");
      if (answer.ok && version !== null && version !== `"${document.documentElement.dataset.version}"`) {
        sessionStorage.setItem(KEPT, JSON.stringify(folded().filter((one) => one.open).map(nameOf)));
        location.reload();
        return;
      }
    } catch {
      // The server has ended; what was loaded stays.
    }
    setTimeout(look, 3000);
  }
  setTimeout(look, 3000);
})();
