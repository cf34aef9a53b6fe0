// The table of vectors: filters, an order, and links to all of it.
(() => {
  const byId = (id) => document.getElementById(id);
  const table = byId("vector-table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const form = document.querySelector(".filters");
  const fields = [...form.querySelectorAll("[data-key]")];
  const column = { op: 1, status: 2, dtype: 3 };
  const collator = new Intl.Collator("en", { numeric: true });

  const number = (count) => count.toLocaleString("en");

  // What filters compare, read from the table when it is first needed.
  let known;
  const texts = () => known ??= new Map(rows.map((row) => {
    const cells = [...row.cells].map((cell) => cell.textContent);
    return [row, { cells, edges: new Set(cells[4].split(", ")), all: cells.join("\n").toLowerCase() }];
  }));

  const hit = (asked, { cells, edges, all }) => asked.every(([key, value]) =>
    key === "text" ? all.includes(value.toLowerCase())
      : key === "edge" ? edges.has(value) : cells[column[key]] === value);

  const filter = () => {
    const asked = fields.filter((field) => field.value.trim())
      .map((field) => [field.dataset.key, field.value.trim()]);
    let shown = rows.length;
    if (asked.length || known) {
      shown = 0;
      for (const [row, text] of texts()) {
        const wanted = hit(asked, text);
        if (row.hidden === wanted) row.hidden = !wanted;
        shown += wanted;
      }
    }
    byId("filter-count").textContent = `${number(shown)} of ${number(rows.length)} shown`;
  };

  let sorted = "";
  const sort = (by) => {
    const down = by.startsWith("-");
    const place = heads.findIndex((head) => head.dataset.name === by.replace("-", ""));
    for (const [n, head] of heads.entries()) {
      if (n === place) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    sorted = place < 0 ? "" : by;
    const compare = (a, b) => collator.compare(texts().get(a).cells[place], texts().get(b).cells[place]);
    body.append(...(place < 0 ? rows : rows.toSorted((a, b) => compare(a, b) * (down ? -1 : 1))));
  };

  // The state of the table stands in the address, so that it can be sent to somebody.
  const remember = () => {
    const state = fields.filter((field) => field.value.trim())
      .map((field) => [field.dataset.key, field.value.trim()]);
    if (sorted) state.push(["sort", sorted]);
    history.replaceState(null, "", `#${new URLSearchParams(state) || "vectors"}`);
  };

  const recall = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("vector")) { find(asked.get("vector")); return; }
    if (![...asked.values()].some(Boolean)) return;
    for (const field of fields) {
      field.value = asked.get(field.dataset.key) ?? "";
      // A value that no row here has shows none, rather than all.
      if (field.value !== (asked.get(field.dataset.key) ?? "")) field.append(new Option(asked.get(field.dataset.key), undefined, true, true));
    }
    if (sorted !== (asked.get("sort") ?? "")) sort(asked.get("sort") ?? "");
    filter();
    byId("every-vector").open = true;
    byId("every-vector").scrollIntoView();
  };

  const find = (id) => {
    const row = rows.find((one) => one.cells[0].textContent === id);
    if (row) {
      if (row.hidden) { form.reset(); filter(); }
      byId("every-vector").open = true;
      row.scrollIntoView({ block: "center" });
      return;
    }
    for (const link of document.querySelectorAll("[data-first]")) {
      const here = link.getAttribute("aria-current");
      if (!here && link.dataset.first <= id && id <= link.dataset.last) {
        location.href = `${link.getAttribute("href")}#vector=${id}`;
        return;
      }
    }
    byId("every-vector").open = true;
    byId("filter-count").textContent = `no vector ${id} here`;
    byId("every-vector").scrollIntoView();
  };

  form.hidden = false;
  form.addEventListener("input", () => { filter(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { filter(); remember(); }));

  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.dataset.name = head.textContent.toLowerCase();
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      sort(sorted === head.dataset.name ? `-${sorted}` : head.dataset.name);
      remember();
    });
  }

  for (const cell of document.querySelectorAll("[data-filter]")) {
    const link = document.createElement("a");
    link.href = cell.dataset.filter;
    link.append(...cell.childNodes);
    cell.append(link);
  }
  for (const hint of document.querySelectorAll(".scripted")) hint.hidden = false;

  filter();
  recall();
  addEventListener("hashchange", recall);
})();
