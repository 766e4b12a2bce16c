// What a browser adds to the report: a cluster picked by its card, tables sorted by a click, hints without delay. The page
// says all without it.

export const reportScript = `
"use strict";
const all = [...document.querySelectorAll("[data-cluster]")];
let picked = null;
function light(cluster) {
  for (const one of all) one.classList.toggle("dim", cluster !== null && one.dataset.cluster !== cluster);
}
for (const card of document.querySelectorAll(".card")) {
  const { cluster } = card.dataset;
  card.classList.add("pick");
  card.tabIndex = 0;
  card.setAttribute("role", "button");
  card.setAttribute("aria-pressed", "false");
  const pick = () => {
    picked = picked === cluster ? null : cluster;
    for (const other of document.querySelectorAll(".card")) {
      other.setAttribute("aria-pressed", String(other.dataset.cluster === picked));
    }
    light(picked);
  };
  card.addEventListener("click", pick);
  card.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick();
  });
  card.addEventListener("mouseenter", () => light(cluster));
  card.addEventListener("mouseleave", () => light(picked));
}
function keyOf(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text.replace(/[,<]/g, ""));
  return Number.isNaN(number) ? text : number;
}
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => ({ row, key: keyOf(row, column) }));
      rows.sort((a, b) => {
        if (typeof a.key !== typeof b.key) return typeof a.key === "string" ? 1 : -1;
        const order = typeof a.key === "string" ? b.key.localeCompare(a.key) : b.key - a.key;
        return up ? -order : order;
      });
      body.append(...rows.map(({ row }) => row));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sort();
    });
  });
}
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
document.addEventListener("mouseover", ({ target, clientX, clientY }) => {
  const one = target.closest("[title], [data-tip]");
  tip.hidden = one === null;
  if (one === null) return;
  if (one.title) {
    one.dataset.tip = one.title;
    one.removeAttribute("title");
  }
  tip.textContent = one.dataset.tip;
  const { width } = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(clientX + 12, innerWidth - width - 8)) + "px";
  tip.style.top = clientY + 18 + "px";
});
`;
