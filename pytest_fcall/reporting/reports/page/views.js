// Views: each is a fragment of the address, so that it can be sent to somebody.

const views = ["overview", "cases", "case", "compare"].map((id) => document.getElementById(id));

function show() {
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  const found = path.match(/^\/case\/(\d+)$/);
  const view = found && rows[found[1]] ? "case" : { "/cases": "cases", "/compare": "compare" }[path] ?? "overview";
  for (const each of views) each.hidden = each.id !== view;
  const here = { overview: "#/", compare: "#/compare" }[view] ?? "#/cases";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  if (view === "cases") { fill(new URLSearchParams(query)); filter(); }
  if (view === "case") openCase(rows[found[1]]);
  if (view === "compare") openComparison(new URLSearchParams(query));
  if (path.startsWith("/")) window.scrollTo(0, 0);
}

addEventListener("hashchange", show);
show();
