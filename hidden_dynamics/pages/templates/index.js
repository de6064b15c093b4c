"use strict";

// Claims: what has the verdict and all the words stays; a click on a heading sorts.
const filters = document.querySelector(".filters");
const table = document.querySelector(".claims");
const rows = table ? [...table.tBodies[0].rows] : [];

function filter() {
  const verdict = filters.elements.verdict.value;
  const words = filters.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = (verdict && verdict !== row.dataset.verdict) || !words.every((word) => text.includes(word));
  }
  filters.elements.count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
}

function sort(heading) {
  const descending = heading.ariaSort === "ascending";
  const key = (row) => row.cells[heading.cellIndex].textContent.trim().replaceAll("−", "-");
  const compare = (one, other) => (one === "") - (other === "") || (descending ? -1 : 1) * one.localeCompare(other, "en", { numeric: true }) || 0;
  const numbers = (one, other) => (one === "") - (other === "") || (descending ? other - one : one - other);
  const numeric = rows.every((row) => key(row) === "" || !Number.isNaN(Number(key(row))));
  for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
  heading.ariaSort = descending ? "descending" : "ascending";
  table.tBodies[0].append(...[...rows].sort((one, other) => (numeric ? numbers : compare)(key(one), key(other))));
}

function showAll() {
  filters.reset();
  filter();
}

for (const heading of table ? table.tHead.rows[0].cells : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  button.addEventListener("click", () => sort(heading));
  heading.append(button);
}
if (filters) {
  filters.hidden = false;
  filters.addEventListener("input", filter);
  filters.querySelector("button").addEventListener("click", showAll);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filter();
}

// A link to a place that is folded away, or filtered out, opens the way to it.
function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) showAll();
  for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", reveal);
reveal();
