"use strict";
const filters = document.getElementById("filters");
const search = document.getElementById("search");
const rows = [...document.querySelectorAll("[data-row]")];
const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

function ticked(name) {
  return new Set([...filters.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value));
}

function show() {
  const levels = ticked("level");
  const verdicts = ticked("verdict");
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) {
    const byVerdict = row.dataset.verdict.split(" ").some((verdict) => verdicts.has(verdict));
    const byWords = wanted.every((word) => words.get(row).includes(word));
    row.hidden = !(levels.has(row.dataset.level) && byVerdict && byWords);
  }
  for (const section of document.querySelectorAll("section")) {
    section.hidden = !section.querySelector("[data-row]:not([hidden])");
  }
  const shown = rows.filter((row) => !row.hidden).length;
  document.getElementById("shown").textContent = `${shown} of ${rows.length} shown`;
}

filters.hidden = false;
filters.addEventListener("input", show);
search.addEventListener("input", () => {
  for (const fold of document.querySelectorAll("details.fold")) {
    fold.open = search.value.trim() !== "" && fold.querySelector("[data-row]:not([hidden])") !== null;
  }
});
filters.addEventListener("submit", (event) => event.preventDefault());
show();
