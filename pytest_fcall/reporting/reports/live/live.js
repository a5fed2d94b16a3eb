"use strict";
(() => {
  const written = document.getElementById("written");
  const age = document.getElementById("age");
  const pause = document.getElementById("pause");
  const stalled = document.getElementById("stalled");
  const seconds = Number(written.dataset.seconds);
  const STALLED = Math.max(60, 20 * seconds);

  document.documentElement.classList.add("with-script");
  if (!pause) return;

  // A pause is a fragment of the address, which outlives the page.
  function paused() {
    return location.hash === "#paused";
  }

  function show() {
    pause.setAttribute("aria-pressed", String(paused()));
    pause.textContent = paused() ? "go on" : "pause";
    const since = Math.max(Math.round(Date.now() / 1000 - Number(written.dataset.moment)), 0);
    age.textContent = since < 2 ? "" : `${since} s ago`;
    stalled.hidden = since < STALLED;
  }

  pause.addEventListener("click", () => {
    history.replaceState(null, "", paused() ? location.pathname + location.search : "#paused");
    show();
  });
  setInterval(show, 1000);
  setInterval(() => { if (!paused() && !document.hidden) location.reload(); }, 1000 * seconds);
  show();
})();
