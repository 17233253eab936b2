"use strict";
// Sorts and filters the tables, and opens the origin of a number. Without it, the page can be read.

const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

function makeButton(text) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...text);
  return button;
}

// The origin of a number: what `analogyqa why` prints.
const dialog = document.querySelector("dialog");
const copy = dialog.querySelector(".copy");
let origins, copied;

async function readOrigins() {
  const text = atob(document.getElementById("provenance").textContent);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unzipped).json();
}

async function openOrigin(link) {
  origins ??= readOrigins();
  const { numbers, runs } = await origins;
  const { facts, run } = numbers[link.id];
  const { number: title, ...others } = { ...facts, ...runs[run] };
  const list = dialog.querySelector("dl");
  list.replaceChildren();
  for (const [key, lines] of Object.entries(others)) {
    const term = document.createElement("dt");
    term.textContent = key.replaceAll("_", " ");
    list.append(term);
    for (const line of lines) {
      const value = document.createElement("dd");
      value.textContent = line;
      list.append(value);
    }
  }
  history.replaceState(null, "", `#${encodeURI(link.id)}`);
  const heading = dialog.querySelector("h2 a");
  heading.textContent = title[0];
  heading.href = location.hash;
  const lines = Object.entries(others).map(([key, values]) => `${key}: ${values.join("\n  ")}`);
  copied = [title[0], location.href, ...lines].join("\n");
  copy.textContent = "Copy";
  const runLink = dialog.querySelector(".run");
  runLink.href = link.hash;
  runLink.hidden = run === null;
  dialog.showModal();
  dialog.scrollTop = 0;
}

copy.hidden = !navigator.clipboard; // a page that is served without TLS has none
copy.addEventListener("click", async () => {
  await navigator.clipboard.writeText(copied);
  copy.textContent = "Copied";
});

// The link of a number; null if nothing has this id.
const linkOf = (id) => document.getElementById(id)?.closest("td a");

document.addEventListener("click", (event) => {
  const link = event.target.closest("td a[id]") ?? linkOf(event.target.closest("[data-number]")?.dataset.number);
  if (link && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    openOrigin(link);
  } else if (event.target === dialog || event.target.closest("dialog a")) {
    dialog.close(); // a click outside of it, or on a link that leads elsewhere
  }
});

function openLinked() {
  const link = linkOf(decodeURI(location.hash.slice(1)));
  if (link) openOrigin(link);
}

addEventListener("hashchange", openLinked);
openLinked();

// Sorting: the first click sorts numbers downwards and words from A, the second the other way, the third restores the order.
// Words, such as "not run", follow the numbers of a column either way.
const UNITS = { K: 1e3, M: 1e6, min: 60, h: 3600 };

function valueOf(cell) {
  const text = cell?.textContent.trim() ?? "";
  const time = text.match(/^(\d+) h (\d+) min/);
  if (time) return 3600 * time[1] + 60 * time[2];
  const number = text.match(/^[+-]?[\d,]*\.?\d+/)?.[0];
  if (number === undefined) return text;
  const unit = text.slice(number.length).match(/^ ?(K|M|min|h)\b/)?.[1];
  return parseFloat(number.replaceAll(",", "")) * (UNITS[unit] ?? 1);
}

function compareCells(first, second, direction) {
  const [a, b] = [valueOf(first), valueOf(second)];
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return direction * (typeof a === "number" ? b - a : a.localeCompare(b));
}

function sortBy(head) {
  const table = head.closest("table");
  const body = table.tBodies[0];
  table.inOrder ??= [...body.rows];
  const at = head.cellIndex;
  const hasNumbers = table.inOrder.some((row) => typeof valueOf(row.cells[at]) === "number");
  const [first, second] = hasNumbers ? ["descending", "ascending"] : ["ascending", "descending"];
  const next = { [first]: second, [second]: "" }[head.ariaSort] ?? first;
  for (const other of all("[aria-sort]", table)) other.removeAttribute("aria-sort");
  if (next) head.ariaSort = next;
  const direction = next === first ? 1 : -1;
  const rows = [...table.inOrder];
  if (next) rows.sort((a, b) => compareCells(a.cells[at], b.cells[at], direction));
  body.append(...rows);
}

for (const head of all("thead th")) {
  if (head.closest("table").tBodies[0].rows.length < 3) continue;
  const button = makeButton(head.childNodes);
  button.addEventListener("click", () => sortBy(head));
  head.append(button);
}

// The filter: rows of the papers with all words and one of the chosen verdicts.
const form = document.querySelector(".bar form");
const input = form.querySelector("input");
const rows = all(".paper .part tbody tr");
const chosen = new Set();
const texts = new Map();

// The text of a row or of a figure, with the captions above it.
function textOf(part) {
  if (!texts.has(part)) {
    const above = [["section.paper", "h2"], ["section.part", "h3"], ["table", "caption"]];
    const captions = above.map(([around, name]) => part.closest(around)?.querySelector(name));
    const elements = [...captions, part].filter(Boolean);
    texts.set(part, elements.map((element) => element.textContent).join(" ").toLowerCase());
  }
  return texts.get(part);
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function applyFilter() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const isOn = words.length > 0 || chosen.size > 0;
  const verdicts = [...chosen].map((name) => `td.${name}`).join();
  const isHit = (part) =>
    (verdicts === "" || part.querySelector(verdicts)) && words.every((word) => textOf(part).includes(word));
  for (const row of rows) row.hidden = !isHit(row);
  const shown = rows.filter((row) => !row.hidden);
  const tables = new Set(shown.map((row) => row.closest(".wide")));
  for (const table of new Set(rows.map((row) => row.closest(".wide")))) {
    table.hidden = !tables.has(table);
  }
  for (const part of all(".paper .part")) {
    part.hidden = !(part.querySelector("tbody") ? part.querySelector("tbody tr:not([hidden])") : isHit(part));
  }
  if (isOn) document.querySelector(".paper .part:not([hidden])")?.scrollIntoView();
  form.querySelector("output").textContent = isOn
    ? `${counted(shown.length, "row")} in ${counted(tables.size, "table")}`
    : "";
}

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
input.addEventListener("input", applyFilter);
for (const chip of all(".legend .chip")) {
  const button = makeButton(chip.childNodes);
  button.ariaPressed = "false";
  button.addEventListener("click", () => {
    const { verdict } = chip.dataset;
    if (!chosen.delete(verdict)) chosen.add(verdict);
    button.ariaPressed = String(chosen.has(verdict));
    applyFilter();
  });
  chip.append(button);
}
