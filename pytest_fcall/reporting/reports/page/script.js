"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const NAMES = ["case", "model", "file", "line", "status", "outcome", "category", "tags", "reasons", "tools",
    "seconds", "cost", "tokens", "rate", "before", "strip"];
  const rows = data.rows.map((values, place) => {
    const row = Object.fromEntries(NAMES.map((name, index) => [name, values[index]]));
    row.place = place;
    row.model = data.models[row.model];
    row.words = [row.case, row.file, row.model, row.category, row.outcome, row.status, ...row.tags, ...row.reasons,
      ...row.tools].join(" ").toLowerCase();
    return row;
  });
  const ONE_OF = {
    outcome: (row) => [row.outcome], status: (row) => [row.status], model: (row) => [row.model],
    category: (row) => [row.category], file: (row) => [row.file],
    tag: (row) => row.tags, reason: (row) => row.reasons, tool: (row) => row.tools,
  };
  const ORDERS = {
    case: (a, b) => a.case.localeCompare(b.case) || a.model.localeCompare(b.model),
    rate: (a, b) => share(a) - share(b),
    seconds: (a, b) => (b.seconds ?? -1) - (a.seconds ?? -1),
    cost: (a, b) => (b.cost ?? -1) - (a.cost ?? -1),
  };
  const views = ["overview", "cases", "case"].map((id) => document.getElementById(id));
  const [, , article] = views;
  const list = document.getElementById("list");
  const space = document.getElementById("space");
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const unpacked = new Map();
  let shown = rows;
  let selected = 0;

  document.documentElement.classList.add("with-script");

  function share(row) {
    return row.rate ? row.rate[0] / row.rate[1] : 2;
  }

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== "" && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  function word(row) {
    if (row.outcome && row.outcome !== "ok") return row.outcome;
    return { passed: "right", xpassed: "right", failed: "wrong", xfailed: "known" }[row.status] ?? row.status;
  }

  function colour(row) {
    if (["passed", "xpassed"].includes(row.status)) return "right";
    return row.status === "failed" ? "wrong" : "other";
  }

  // Views: each is a fragment of the address, so that it can be sent to somebody.

  function show() {
    const [path, query] = location.hash.replace(/^#/, "").split("?");
    const found = path.match(/^\/case\/(\d+)$/);
    const view = found && rows[found[1]] ? "case" : path === "/cases" ? "cases" : "overview";
    for (const each of views) each.hidden = each.id !== view;
    for (const link of document.querySelectorAll("nav a")) {
      const here = link.getAttribute("href") === (view === "overview" ? "#/" : "#/cases");
      if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    if (view === "cases") { fill(new URLSearchParams(query)); filter(); }
    if (view === "case") open(rows[found[1]]);
    if (path.startsWith("/")) window.scrollTo(0, 0);
  }

  // The list of cases: only the rows that are in sight are in the page.

  for (const [name, values] of Object.entries(ONE_OF)) {
    const known = [...new Set(rows.flatMap(values))].filter(Boolean).sort();
    form.elements[name].append(...known.map((value) => element("option", { value }, value)));
  }

  function fill(query) {
    for (const field of form.elements) {
      if (field.name) field.value = query.get(field.name) ?? "";
    }
  }

  function filter() {
    const wanted = Object.keys(ONE_OF).filter((name) => form.elements[name].value);
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = rows.filter((row) =>
      wanted.every((name) => ONE_OF[name](row).includes(form.elements[name].value))
      && words.every((each) => row.words.includes(each)));
    const order = ORDERS[form.elements.sort.value];
    if (order) shown.sort(order);
    selected = 0;
    count.textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} results`;
    list.scrollTop = 0;
    draw();
  }

  function height() {
    return matchMedia("(max-width: 48rem)").matches ? 72 : 44;
  }

  function draw() {
    const each = height();
    space.style.height = `${shown.length * each}px`;
    const first = Math.max(Math.floor(list.scrollTop / each) - 10, 0);
    const last = Math.min(first + Math.ceil(list.clientHeight / each) + 20, shown.length);
    const drawn = [];
    for (let place = first; place < last; place += 1) {
      const made = line(shown[place], place);
      made.style.top = `${place * each}px`;
      drawn.push(made);
    }
    space.replaceChildren(...drawn);
    list.setAttribute("aria-activedescendant", shown.length ? `row-${selected}` : "");
  }

  function line(row, place) {
    const rate = row.rate && row.rate[1] > 1 ? `${row.rate[0]}/${row.rate[1]}` : "";
    return element("a", {
      class: "row", role: "option", id: `row-${place}`, href: `#/case/${row.place}`, tabindex: "-1",
      "aria-selected": String(place === selected), "aria-posinset": place + 1, "aria-setsize": shown.length,
    },
    element("span", { class: colour(row) }, word(row)),
    element("span", { class: "name" }, row.case),
    element("span", { class: "model" }, row.model),
    element("span", { class: "what" }, [...row.reasons, ...row.tags.map((tag) => `#${tag}`)].join(" ") || row.category),
    element("span", { class: "rate" }, rate),
    element("span", { class: "time" }, time(row.seconds)));
  }

  function time(seconds) {
    if (seconds === null) return "";
    return seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  }

  function select(place) {
    selected = Math.min(Math.max(place, 0), shown.length - 1);
    const each = height();
    if (selected * each < list.scrollTop) list.scrollTop = selected * each;
    const lowest = (selected + 1) * each - list.clientHeight;
    if (lowest > list.scrollTop) list.scrollTop = lowest;
    draw();
  }

  list.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  list.addEventListener("keydown", (event) => {
    const page = Math.max(Math.floor(list.clientHeight / height()) - 1, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -shown.length, End: shown.length };
    if (event.key in steps) { event.preventDefault(); select(selected + steps[event.key]); }
    if (event.key === "Enter" && shown[selected]) location.hash = `#/case/${shown[selected].place}`;
  });
  addEventListener("resize", () => { if (!views[1].hidden) draw(); });

  function changed() {
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const fragment = `#/cases${query.size ? `?${query}` : ""}`;
    history.replaceState(null, "", fragment);
    filter();
  }

  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(changed));

  // One case: what was asked and answered is unpacked when it is first looked at.

  async function detail(place) {
    const portion = Math.floor(place / data.portion);
    if (!unpacked.has(portion)) {
      const bytes = Uint8Array.from(atob(data.packed[portion]), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      unpacked.set(portion, new Response(stream).json());
    }
    return (await unpacked.get(portion))[place % data.portion];
  }

  async function open(row) {
    article.replaceChildren(element("p", {}, "…"));
    const found = await detail(row.place);
    if (location.hash !== `#/case/${row.place}`) return;
    const answer = found.answers?.[found.shown ?? 0];
    article.replaceChildren(
      element("h1", {}, row.case, " ", element("small", {}, row.model)),
      element("p", {}, element("b", { class: colour(row) }, word(row)), ` ${row.status}`,
        row.rate && row.rate[1] > 1 ? `, ${row.rate[0]} of ${row.rate[1]} answers right` : "",
        row.before ? `, ${row.before[0]} of ${row.before[1]} before` : ""),
      element("p", { class: "where" }, `${row.file}:${row.line}`),
      buttons(row, found),
      ...section("Earlier runs", row.strip ? [strip(row)] : []),
      ...section("What changed since the baseline", lines([...(found.since ?? []), ...(found.causes ?? [])])),
      ...section("Why there is no verdict", found.error ? [element("pre", {}, found.error)] : []),
      ...section("Reasons", lines((answer?.reasons ?? []).map(([kind, , text]) => `${kind}: ${text}`))),
      ...section("Notes", lines(answer?.notes ?? [])),
      ...(found.lost ? [element("p", {}, "What was asked and answered is not kept of this run.")] : []),
      ...(found.answers ?? []).flatMap((each, number) => conversation(each, number, found)),
      ...section("Tools offered", found.tools?.length ? [element("p", {}, found.tools.join(", "))] : []),
      ...section("Settings", found.settings?.length
        ? [element("pre", {}, found.settings.map(([name, value]) => `${name}: ${value}`).join("\n"))] : []),
      ...section("Figures", [element("p", {}, figures(row))]),
    );
  }

  function section(title, content) {
    return content.length ? [element("h2", {}, title), ...content] : [];
  }

  function lines(texts) {
    return texts.length ? [element("ul", {}, ...texts.map((text) => element("li", {}, text)))] : [];
  }

  function strip(row) {
    const names = { r: "right", w: "wrong", e: "error", s: "skipped", ".": "not run" };
    const letters = [...row.strip].map((letter, place) =>
      element("span", { class: letter === "." ? "o" : letter, title: `${data.earlier[place]}: ${names[letter]}` },
        { r: "✓", w: "✗", e: "!", s: "–", ".": "·" }[letter]));
    const said = [...row.strip].map((letter) => names[letter]).join(", ");
    return element("p", { class: "strip", role: "img", "aria-label": `oldest first: ${said}` }, ...letters);
  }

  function figures(row) {
    return [
      time(row.seconds),
      row.tokens === null ? "" : `${row.tokens.toLocaleString("en")} tokens`,
      row.cost === null ? "" : `$${row.cost.toPrecision(3)}`,
      row.category, ...row.tags.map((tag) => `#${tag}`),
    ].filter(Boolean).join(", ");
  }

  function buttons(row, found) {
    const node = quoted(found.node);
    const commands = {
      "run it again": `pytest ${node} --fc-live`,
      "show its prompt": `fcall prompt ${quoted(row.file)} ${quoted(row.case)}`,
      "accept it": `fcall accept ${quoted(row.case)}`,
      "accept as known failure": `fcall accept --failing ${quoted(row.case)}`,
    };
    return element("div", { class: "buttons" }, ...Object.entries(commands).map(([name, command]) => {
      const made = element("button", { type: "button", title: command }, `copy: ${name}`);
      made.addEventListener("click", async () => {
        await copy(command);
        made.textContent = "copied";
        setTimeout(() => { made.textContent = `copy: ${name}`; }, 1500);
      });
      return made;
    }));
  }

  function quoted(text) {
    return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = element("textarea", {}, text);
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
  }

  function conversation(answer, number, found) {
    const places = (answer.reasons ?? []).map(([, path]) => path);
    let index = 0;
    const parts = (answer.steps ?? []).flatMap((step) => {
      const made = messages(step);
      (step.calls ?? []).forEach((call, place) => {
        made.push(called(call, places.filter((path) => path.startsWith(`calls[${index}]`)), step.results?.[place]));
        index += 1;
      });
      return [...made, ...said(step)];
    });
    const inside = (answer.inside ?? []).flatMap((step) =>
      [element("p", { class: "role" }, step.model ?? ""), ...messages(step),
        ...(step.calls ?? []).map((call, place) => called(call, [], step.results?.[place])), ...said(step)]);
    const several = found.answers.length > 1;
    const title = several ? `Answer ${number + 1}: ${answer.right ? "right" : "wrong"}` : "Asked and answered";
    const whole = [...parts, ...section("Inside the app", inside)];
    return several && number !== (found.shown ?? 0)
      ? [element("details", {}, element("summary", {}, title), ...whole)] : section(title, whole);
  }

  function messages(step) {
    return (step.messages ?? []).flatMap(([role, text]) =>
      [element("p", { class: "role" }, role), element("pre", { tabindex: "0" }, text)]);
  }

  function said(step) {
    const made = step.text ? [element("p", { class: "role" }, "answer"), element("pre", { tabindex: "0" }, step.text)] : [];
    return step.remark ? [...made, element("p", {}, step.remark)] : made;
  }

  function called([name, given], wrong, result) {
    const marked = (argument) => wrong.some((path) => path.includes(`.args.${argument}`));
    const table = element("table", {}, element("tbody", {}, ...given.map(([argument, value]) =>
      element("tr", { class: marked(argument) ? "wrong-argument" : "" },
        element("td", {}, argument), element("td", {}, element("code", {}, value))))));
    return element("div", { class: wrong.length ? "call wrong-call" : "call" }, element("b", {}, name), table,
      ...(result ? [element("p", { class: "role" }, result[0] || "result"), element("pre", { tabindex: "0" }, result[1])] : []));
  }

  addEventListener("hashchange", show);
  show();
})();
