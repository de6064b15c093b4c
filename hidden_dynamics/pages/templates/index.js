"use strict";

// Claims: what has the verdict and all the words stays.
const filters = document.querySelector(".filters");
filters.hidden = false;

function filter() {
  const claims = [...document.querySelectorAll(".claims li")];
  const verdict = filters.elements.verdict.value;
  const words = filters.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const claim of claims) {
    const text = claim.closest(".claimed").id + claim.textContent.toLowerCase();
    claim.hidden = (verdict && verdict !== claim.dataset.verdict) || !words.every((word) => text.includes(word));
  }
  for (const group of document.querySelectorAll(".says, .claimed")) group.hidden = !group.querySelector("li:not([hidden])");
  for (const group of document.querySelectorAll(".says")) group.open = (verdict || words.length > 0) && !group.hidden;
  const shown = claims.filter((claim) => !claim.hidden).length;
  filters.elements.count.textContent = `${shown} of ${claims.length} claims`;
}

function showAll() {
  filters.reset();
  filter();
}

filters.addEventListener("input", filter);
filters.querySelector("button").addEventListener("click", showAll);
filters.addEventListener("submit", (event) => event.preventDefault());
filter();

// A link to a place that is folded away, or filtered out, opens the way to it.
function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.hidden) showAll();
  for (const group of target.querySelectorAll(".says")) group.open = true;
  for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", reveal);
reveal();
