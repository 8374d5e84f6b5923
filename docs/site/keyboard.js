// For keyboards and screen readers: the search has a name, and what scrolls can be reached.
window.addEventListener("load", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const one of document.querySelectorAll(".md-typeset pre > code, .md-typeset__scrollwrap")) one.tabIndex = 0;
});
