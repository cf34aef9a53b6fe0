"use strict";
// The page is whole without this: it adds a theme switch, copying, and a table to filter and sort.
(() => {
  const byId = (id) => document.getElementById(id);

  const theme = byId("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  for (const button of document.querySelectorAll(".copy")) {
    const code = button.parentElement.querySelector("code");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      } catch {
        // No clipboard here (an old browser, a plain connection): leave the text selected.
        getSelection().selectAllChildren(code);
      }
    });
  }

  const table = byId("vector-table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const form = document.querySelector(".filters");
  const search = byId("filter-text");
  const selects = [...form.querySelectorAll("select")];

  const filter = () => {
    const text = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const hit = selects.every((select) =>
          !select.value || row.cells[select.dataset.column].textContent === select.value) &&
        (!text || row.textContent.toLowerCase().includes(text));
      row.hidden = !hit;
      shown += hit;
    }
    byId("filter-count").textContent = `${shown} of ${rows.length} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());

  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = new Map(rows.map((row) => [row, row.cells[column].textContent]));
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      const sorted = rows.toSorted((a, b) => compare(key.get(a), key.get(b)) * (down ? -1 : 1));
      body.replaceChildren(...sorted);
    });
  }
  filter();
})();
