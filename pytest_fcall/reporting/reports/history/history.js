"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const overview = document.getElementById("overview");
  const runs = [...document.querySelectorAll("article.run")];
  const AT_ONCE = 500;
  const RIGHT = ["passed", "xpassed"];
  const WORDS = { passed: "right", xpassed: "right", failed: "wrong", xfailed: "known" };
  const FILTERS = {
    all: () => true,
    "changed since the run before": (row) => row.before && word(row.status) !== word(row.before),
    wrong: (row) => row.status === "failed" || row.status === "xfailed",
    "without a verdict": (row) => row.status === "error" || row.status === "skipped",
    "not in the runs before": (row) => !row.before,
  };
  const unpacked = new Map();

  document.documentElement.classList.add("with-script");

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function word(status) {
    return WORDS[status] ?? status;
  }

  function colour(status) {
    return RIGHT.includes(status) ? "right" : status === "failed" ? "wrong" : "other";
  }

  // A view is a fragment of the address: that of a run, or the overview.

  function show() {
    const name = location.hash.slice(1);
    const run = runs.find((each) => each.id === name);
    overview.hidden = Boolean(run);
    for (const each of runs) each.hidden = each !== run;
    for (const link of document.querySelectorAll("nav a")) {
      const here = link.hash === (run ? `#${run.id}` : "#overview");
      if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    if (run) { open(run); run.focus({ preventScroll: true }); }
    if (run || name === "overview") window.scrollTo(0, 0);
  }

  async function rowsOf(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  function kept(name, packed) {
    if (!unpacked.has(name)) unpacked.set(name, rowsOf(packed));
    return unpacked.get(name);
  }

  async function open(run) {
    const place = run.querySelector(".results");
    if (place.childElementCount) return;
    place.append(element("h3", {}, "Results"));
    const [cases, found] = await Promise.all([kept("cases", data.cases), kept(run.id, data.runs[run.id])]);
    const rows = found.map(([number, status, before, outcome, reasons, seconds, cost]) => {
      const [name, model, file, category, line] = cases[number];
      const words = [name, model, file, category, outcome, reasons, word(status)].join(" ").toLowerCase();
      return { name, model, file, category, line, status, before, outcome, reasons, seconds, cost, words };
    });
    place.append(...results(rows));
  }

  function results(rows) {
    const search = element("input", { type: "search", placeholder: "case, file, model or reason", autocomplete: "off" });
    const choice = element("select", {}, ...Object.keys(FILTERS).map((name) => element("option", {}, name)));
    const count = element("p", { role: "status" });
    const body = element("tbody");
    const more = element("button", { type: "button", class: "more" }, "show more");
    const heads = { now: "", before: "", case: "", model: "", reasons: "", time: "number", cost: "number" };
    const table = element("table", { class: "found" },
      element("thead", {}, element("tr", {}, ...Object.entries(heads).map(([name, kind]) => element("th", { scope: "col", class: kind }, name)))), body);
    let shown = [];
    function add() {
      const from = body.childElementCount;
      body.append(...shown.slice(from, from + AT_ONCE).map(line));
      more.hidden = body.childElementCount >= shown.length;
    }
    function filter() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      shown = rows.filter((row) => FILTERS[choice.value](row) && words.every((each) => row.words.includes(each)));
      count.textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} results`;
      body.replaceChildren();
      add();
    }
    search.addEventListener("input", filter);
    choice.addEventListener("input", filter);
    more.addEventListener("click", add);
    filter();
    return [
      element("div", { class: "tools", role: "search" },
        element("label", {}, "search ", search), element("label", {}, "show ", choice)),
      count, element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "table: results" }, table), more,
    ];
  }

  function line(row) {
    return element("tr", {},
      element("td", { class: colour(row.status) }, row.outcome && row.outcome !== "ok" ? `${word(row.status)}, ${row.outcome}` : word(row.status)),
      element("td", { class: row.before ? colour(row.before) : "other" }, row.before ? word(row.before) : "–"),
      element("th", { scope: "row" }, row.name, " ", element("span", { class: "where file" }, `${row.file}:${row.line}`)),
      element("td", {}, row.model),
      element("td", {}, row.reasons),
      element("td", { class: "number" }, time(row.seconds)),
      element("td", { class: "number" }, row.cost === null ? "" : `$${row.cost.toPrecision(3)}`));
  }

  function time(seconds) {
    if (seconds === null) return "";
    return seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  }

  for (const column of document.querySelectorAll("svg .column")) {
    column.addEventListener("click", () => { location.hash = column.dataset.run; });
  }
  addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, .wide") || event.altKey || event.ctrlKey || event.metaKey) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    const link = rel && runs.find((each) => !each.hidden)?.querySelector(`a[rel=${rel}]`);
    if (link) location.hash = link.hash;
    if (event.key === "Escape" && overview.hidden) location.hash = "overview";
  });
  addEventListener("hashchange", show);
  show();
})();
