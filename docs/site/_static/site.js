// From a file, the browser may not read other pages to quote them in results of the search.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// What is wider than the page scrolls within it; arrow keys do that for whoever has no mouse.
function letScroll() {
  for (const box of document.querySelectorAll(".table-wrapper, .highlight pre")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }
}
addEventListener("load", letScroll);
addEventListener("resize", letScroll);

// Both sides of a page are landmarks, and are told apart by their names.
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
document.querySelector(".toc-drawer")?.setAttribute("aria-label", "This page");

// The link that leads up is in a landmark, too.
const wayUp = document.querySelector(".back-to-top");
if (wayUp) {
  const landmark = document.createElement("nav");
  landmark.setAttribute("aria-label", "Top");
  wayUp.replaceWith(landmark);
  landmark.append(wayUp);
}

// Other versions lie in folders beside this one. The same page is linked to, or the first one where that is missing.
function linkVersions() {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const current = decodeURIComponent(root.pathname.split("/").at(-2));
  const page = decodeURIComponent(location.pathname.slice(root.pathname.length)) || "index.html";
  const box = document.createElement("details");
  box.className = "versions";
  box.append(document.createElement("summary"), document.createElement("ul"));
  box.firstChild.textContent = `Version: ${current}`;
  for (const { name, pages } of VERSIONS) {
    const link = document.createElement("a");
    link.href = new URL(`../${name}/${pages.includes(page) ? page : "index.html"}`, root);
    link.textContent = name;
    if (name === current) {
      link.setAttribute("aria-current", "true");
    }
    const item = document.createElement("li");
    item.append(link);
    box.lastChild.append(item);
  }
  document.querySelector(".sidebar-brand").after(box);
}
if (VERSIONS.length > 1) {
  linkVersions();
}
