"use strict";
// What the theme's pages lack for readers with a keyboard or a screen reader.
const lacking = {
  ".sidebar-drawer": { "aria-label": "All pages" },
  ".toc-drawer": { "aria-label": "This page" },
  "[role=heading]": { "aria-level": "2" },
  "pre, .table-wrapper, .output": { tabindex: "0" }, // they scroll
};
for (const [selector, attributes] of Object.entries(lacking)) {
  for (const element of document.querySelectorAll(selector)) {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  }
}
for (const head of document.querySelectorAll("th")) {
  if (!head.textContent.trim()) head.setAttribute("role", "cell"); // it heads nothing
}
