"use strict";

for (const element of document.querySelectorAll(".filters, .with-script")) element.hidden = false;

// Legends: a model's button takes what is drawn of it from every panel of the figure.
for (const button of document.querySelectorAll("[data-toggles]")) {
  button.disabled = false;
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", shown);
    const panels = button.closest(".artifact").querySelector(".panels");
    for (const mark of panels.querySelectorAll(`[data-model="${CSS.escape(button.dataset.toggles)}"]`))
      mark.classList.toggle("off", !shown);
  });
}

// Values under the pointer: read off the drawn lines, so to the accuracy of the drawing.
const numbers = (text) => text.split(" ").map(Number);

function toValue(place, from, to, limits, scale) {
  const share = (place - from) / (to - from);
  if (scale !== "log") return limits[0] + share * (limits[1] - limits[0]);
  return limits[0] * (limits[1] / limits[0]) ** share;
}

function heightAt(path, x) {
  path.parts ??= path.getAttribute("d").split("M").slice(1)
    .map((part) => part.match(/-?[\d.]+(?:e[-+]?\d+)?/g).map(Number));
  for (const part of path.parts)
    for (let i = 0; i + 3 < part.length; i += 2)
      if (part[i] <= x && x <= part[i + 2]) {
        const share = part[i + 2] > part[i] ? (x - part[i]) / (part[i + 2] - part[i]) : 0;
        return part[i + 1] + share * (part[i + 3] - part[i + 1]);
      }
  return null;
}

function read(svg, clientX) {
  const [left, top, right, bottom] = numbers(svg.dataset.box);
  const [xScale, yScale] = svg.dataset.scales.split(" ");
  const frame = svg.getBoundingClientRect();
  const x = ((clientX - frame.left) / frame.width) * svg.viewBox.baseVal.width;
  if (x < left || x > right) return null;
  const found = [];
  for (const button of svg.closest(".artifact").querySelectorAll('[data-toggles][aria-pressed="true"]')) {
    const path = svg.querySelector(`.curve[data-model="${CSS.escape(button.dataset.toggles)}"] path`);
    const y = path && heightAt(path, x);
    if (y === null) continue;
    const value = toValue(y, bottom, top, numbers(svg.dataset.y), yScale);
    found.push(`${button.textContent.trim()} ${value.toPrecision(3)}`);
  }
  const place = toValue(x, left, right, numbers(svg.dataset.x), xScale);
  return { x, top, bottom, text: `${svg.dataset.against} ${place.toPrecision(3)}: ${found.join(" · ") || "no curve"}` };
}

for (const svg of document.querySelectorAll(".panel svg")) {
  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
  cursor.setAttribute("class", "cursor");
  const output = svg.parentElement.querySelector(".reading");
  const tell = (event) => {
    const reading = read(svg, event.clientX);
    if (!reading) return hide();
    for (const [name, value] of [["x1", reading.x], ["x2", reading.x], ["y1", reading.top], ["y2", reading.bottom]])
      cursor.setAttribute(name, value);
    svg.append(cursor);
    output.textContent = reading.text;
  };
  const hide = () => {
    cursor.remove();
    output.textContent = "";
  };
  svg.addEventListener("pointermove", tell);
  svg.addEventListener("pointerdown", tell);
  svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
}

// Claims: what matches every filter stays.
const filters = document.querySelector(".filters");
const columns = ["verdict", "paper", "artifact"];

function filter() {
  const claims = [...document.querySelectorAll(".claims li")];
  const words = filters.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const filtered = words.length > 0 || columns.some((name) => filters.elements[name].value);
  for (const claim of claims) {
    const chosen = columns.every(
      (name) => !filters.elements[name].value || filters.elements[name].value === claim.dataset[name],
    );
    const text = claim.textContent.toLowerCase();
    claim.hidden = !chosen || !words.every((word) => text.includes(word));
  }
  for (const group of document.querySelectorAll(".says, .claimed")) group.hidden = !group.querySelector("li:not([hidden])");
  for (const group of document.querySelectorAll(".says")) group.open = filtered && !group.hidden;
  const shown = claims.filter((claim) => !claim.hidden).length;
  filters.elements.count.textContent = `${shown} of ${claims.length} claims`;
}

function show(chosen) {
  filters.reset();
  for (const name of columns) if (chosen[name]) filters.elements[name].value = chosen[name];
  filter();
}

for (const link of document.querySelectorAll("a[data-artifact], a[data-paper]"))
  link.addEventListener("click", () => show(link.dataset));
addEventListener("beforeprint", () => {
  for (const group of document.querySelectorAll(".says")) group.open = true;
});
filters.addEventListener("input", filter);
filters.querySelector("button").addEventListener("click", () => show({}));
filters.addEventListener("submit", (event) => event.preventDefault());
filter();

// A link to a place that is folded away, or filtered out, opens the way to it.
function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.hidden) show({});
  for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", reveal);
reveal();
