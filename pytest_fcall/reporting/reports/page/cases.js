// The list of cases: filters, order, and only those rows in the page that are in sight.

const NAMES = ["case", "model", "file", "line", "status", "outcome", "category", "tags", "reasons", "tools",
  "seconds", "cost", "tokens", "rate", "before", "strip", "answer", "node"];
const rows = data.rows.map((values, place) => {
  const row = Object.fromEntries(NAMES.map((name, index) => [name, values[index]]));
  row.place = place;
  row.number = row.model;
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
const list = document.getElementById("list");
const space = document.getElementById("space");
const form = document.getElementById("filters");
const count = document.getElementById("count");
let shown = rows;
let selected = 0;

function share(row) {
  return row.rate ? row.rate[0] / row.rate[1] : 2;
}

function word(row) {
  if (row.outcome && row.outcome !== "ok") return row.outcome;
  return { passed: "right", xpassed: "right", failed: "wrong", xfailed: "known" }[row.status] ?? row.status;
}

function colour(row) {
  if (["passed", "xpassed"].includes(row.status)) return "right";
  return row.status === "failed" ? "wrong" : "other";
}

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
addEventListener("resize", () => { if (!list.closest("[hidden]")) draw(); });

function changed() {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", `#/cases${query.size ? `?${query}` : ""}`);
  filter();
}

form.addEventListener("input", changed);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(changed));
