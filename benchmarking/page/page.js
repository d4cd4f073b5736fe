"use strict";
// Tables sort at a click on a head, and figures are drawn from the data blocks of this file. Nothing here asks any network.
(() => {
  const valueOf = (cell) => cell.dataset.value ?? cell.textContent;

  function sort(head) {
    const table = head.closest("table");
    const column = [...head.parentElement.children].indexOf(head);
    const falling = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("number");
    const key = (row) => {
      const text = valueOf(row.cells[column]);
      return numeric ? (text === "" || text === "nan" ? NaN : Number(text.replace(/^(-?)inf$/, "$1Infinity"))) : text;
    };
    const absent = (value) => (numeric ? Number.isNaN(value) : value === "");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row), row]);
    // What is absent stays at the end whichever way is sorted; equal values keep their order.
    rows.sort(([a], [b]) => {
      if (absent(a) || absent(b)) return absent(a) - absent(b);
      const order = a < b ? -1 : a > b ? 1 : 0;
      return falling ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
    for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  }

  for (const button of document.querySelectorAll("th button")) {
    button.addEventListener("click", () => sort(button.parentElement));
  }

  function say(text) {
    for (const place of document.querySelectorAll("figure .plot")) {
      const line = document.createElement("p");
      line.className = "missing";
      line.textContent = text;
      place.replaceChildren(line);
    }
  }

  async function library() {
    const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  const places = [...document.querySelectorAll("[data-plot]")];
  const drawn = new Set();

  function draw(place) {
    if (drawn.has(place) || typeof Plotly === "undefined") return;
    drawn.add(place);
    const { traces, layout } = JSON.parse(document.getElementById(place.dataset.plot).textContent);
    Plotly.newPlot(place, traces, layout, { displayModeBar: false, responsive: true, showTips: false });
  }

  // A figure is drawn when it comes near to what is seen, which a folded one does when it is unfolded.
  const watcher = new IntersectionObserver(
    (seen) => {
      for (const one of seen) {
        if (!one.isIntersecting) continue;
        watcher.unobserve(one.target);
        draw(one.target);
      }
    },
    { rootMargin: "400px" },
  );

  // A figure takes the width of its place when it is drawn, which on paper is another than on the screen.
  const paper = "680px";

  function fit(place, width) {
    place.style.width = width;
    if (drawn.has(place)) Plotly.relayout(place, { autosize: true });
  }

  // What is folded on a screen, or not drawn yet, is read on paper too.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")].filter((one) => one.dataset.print !== "no");
    for (const one of opened) one.open = true;
    for (const place of places) {
      fit(place, paper);
      draw(place);
    }
  });
  window.addEventListener("afterprint", () => {
    for (const place of places) fit(place, "");
    for (const one of opened) one.open = false;
  });

  function isSeen(place) {
    const { top, bottom, width } = place.getBoundingClientRect();
    return width > 0 && bottom > 0 && top < window.innerHeight;
  }

  async function start() {
    if (!document.getElementById("plotly")) return;
    if (typeof DecompressionStream === "undefined") {
      say("This browser cannot unpack what draws the figures; their numbers stand in the tables.");
      return;
    }
    try {
      await library();
      places.filter(isSeen).forEach(draw);
      for (const place of places) watcher.observe(place);
    } catch (error) {
      say(`The figures could not be drawn (${error.message}); their numbers stand in the tables.`);
    }
  }

  document.documentElement.dataset.ready = "no";
  start().finally(() => { document.documentElement.dataset.ready = "yes"; });
})();
