// The table of vectors: filters, an order, pages, and the details of a vector.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = byId("vector-data");
  if (!data) return;
  const { names, causes, show, rows } = JSON.parse(data.textContent);
  const table = byId("vector-table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const form = document.querySelector("#every-vector .filters");
  const fields = [...form.querySelectorAll("[data-key]")];
  const collator = new Intl.Collator("en", { numeric: true });
  const PAGE = 100;

  const number = (count) => count.toLocaleString("en");
  const element = (name, text, kind) => {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };
  const link = (address, text) => {
    const anchor = element("a", text);
    anchor.href = address;
    return anchor;
  };
  const address = (key, value) => `#${new URLSearchParams([[key, value]])}`;
  const message = (row) => (row.k === undefined ? "" : `known failure (${names[row.k]}): `) + (row.m ?? "");

  const value = {
    op: (row) => names[row.o],
    status: (row) => names[row.s],
    dtype: (row) => names[row.t],
    cause: (row) => (row.c === undefined ? "" : causes[row.c][0]),
  };
  const took = (row) => (row.d === undefined ? "" : `${number(row.d)} ms`);
  const columns = [(row) => row.v, value.op, value.status, value.dtype, took,
    (row) => (row.c === undefined ? "" : causes[row.c][1]), message];
  const fillers = {
    edge: () => rows.flatMap((row) => row.e.map((edge) => names[edge])),
    cause: () => causes.map(([id]) => id),
  };
  for (const field of fields.filter((field) => field.tagName === "SELECT")) {
    const key = field.dataset.key;
    const all = fillers[key] ? fillers[key]() : rows.map(value[key]);
    for (const choice of [...new Set(all)].filter(Boolean).sort(collator.compare)) field.append(new Option(choice));
  }

  // The text that a search looks through, made when it is first needed.
  const texts = new Map();
  const text = (row) => {
    if (!texts.has(row)) {
      const edges = row.e.map((edge) => names[edge]);
      texts.set(row, [...columns.filter((column) => column !== took).map((column) => column(row)), ...edges].join("\n").toLowerCase());
    }
    return texts.get(row);
  };
  const matches = (filters, row) => filters.every(([key, content]) =>
    key === "text" ? text(row).includes(content.toLowerCase())
      : key === "edge" ? row.e.some((edge) => names[edge] === content) : value[key](row) === content);

  let sorted = "", matching = rows, page = 0;

  const draw = () => {
    const pages = Math.max(1, Math.ceil(matching.length / PAGE));
    page = Math.min(Math.max(0, page), pages - 1);
    body.replaceChildren(...matching.slice(page * PAGE, (page + 1) * PAGE).map((row) => {
      const line = element("tr");
      const name = element("th");
      name.scope = "row";
      name.append(link(address("vector", row.v), row.v));
      line.append(name, ...columns.slice(1).map((column, n) => element("td", column(row), n === 1 ? names[row.s] : "")));
      return line;
    }));
    byId("page-place").textContent = `Page ${number(page + 1)} of ${number(pages)}`;
    byId("page-before").disabled = page === 0;
    byId("page-after").disabled = page === pages - 1;
  };

  const activeFilters = () => fields.filter((field) => field.value.trim())
    .map((field) => [field.dataset.key, field.value.trim()]);

  const narrow = () => {
    const filters = activeFilters();
    matching = filters.length ? rows.filter((row) => matches(filters, row)) : [...rows];
    const sortColumn = heads.findIndex((head) => head.dataset.name === sorted.replace("-", ""));
    for (const [n, head] of heads.entries()) {
      if (n === sortColumn) head.setAttribute("aria-sort", sorted.startsWith("-") ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    if (sortColumn >= 0) {
      const timed = columns[sortColumn] === took;
      const keys = new Map(matching.map((row) => [row, timed ? row.d ?? 0 : columns[sortColumn](row)]));
      const compare = timed ? (a, b) => a - b : collator.compare;
      const down = sorted.startsWith("-") ? -1 : 1;
      matching.sort((a, b) => down * compare(keys.get(a), keys.get(b)));
    }
    byId("filter-count").textContent = `${number(matching.length)} of ${number(rows.length)} shown`;
    page = 0;
    draw();
  };

  // The state of the table stands in the address, so that it can be sent to somebody.
  const remember = () => {
    const state = activeFilters().map(([key, content]) => [key === "cause" ? "of" : key, content]);
    if (sorted) state.push(["sort", sorted]);
    history.replaceState(null, "", `#${new URLSearchParams(state) || "vectors"}`);
  };

  const facts = (pairs) => {
    const list = element("dl", undefined, "facts");
    for (const [name, content] of pairs) {
      if (content === undefined || content === "") continue;
      const part = element("div");
      const definition = element("dd");
      definition.append(content);
      part.append(element("dt", name), definition);
      list.append(part);
    }
    return list;
  };

  const SIDE = 16, SLICES = 4;
  const grid = (caption, plane, other) => {
    const planeTable = element("table", undefined, "plane");
    planeTable.append(element("caption", caption));
    for (const [y, line] of plane.slice(0, SIDE).entries()) {
      const row = planeTable.insertRow();
      for (const [x, content] of line.slice(0, SIDE).entries()) {
        const cell = row.insertCell();
        cell.textContent = content;
        if (other && other[y]?.[x] !== content) cell.className = "differs";
      }
    }
    const scroll = element("div", undefined, "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", caption);
    scroll.append(planeTable);
    return scroll;
  };
  const flat = (array, index = []) => {
    if (!Array.isArray(array?.[0])) return [[index, [array]]];
    if (!Array.isArray(array[0][0])) return [[index, array]];
    return array.flatMap((part, n) => flat(part, [...index, n]));
  };
  const grids = (name, arrays, others) => (arrays ?? []).flatMap((array, n) => {
    if (!array) return [];
    const slices = flat(array), right = others?.[n] ? flat(others[n]) : [];
    const many = arrays.length > 1 ? ` ${n + 1}` : "";
    const planes = slices.slice(0, SLICES).map(([index, plane], m) => {
      const at = index.some(Boolean) || slices.length > 1 ? `, at ${index.join(", ")}` : "";
      // The expected value is the rounded one; others within the accepted interval are no failure.
      const marks = right[m] ? " (marked values differ; some may be within tolerance)" : "";
      return grid(`${name}${many}${at}${marks}`, plane, right[m]?.[1]);
    });
    if (slices.length > SLICES) planes.push(element("p", `${name}${many}: ${slices.length - SLICES} slices more`));
    return planes;
  });

  const showVector = (row) => {
    const panel = byId("vector-detail");
    const request = Object.entries(row.a ?? {}).map(([name, content]) => [name.replace("attributes, ", ""), content]);
    const edges = element("ul", undefined, "edges");
    edges.append(...row.e.map((edge) => {
      const item = element("li");
      item.append(link(address("edge", names[edge]), names[edge]));
      return item;
    }));
    const cause = row.c === undefined ? undefined : link(address("cause", causes[row.c][0]), causes[row.c][1]);
    const detail = row.x ?? {};
    const arrays = [grids("Input", detail.inputs), grids("Expected", detail.expected),
      grids("Got", detail.got, detail.expected)].filter((planes) => planes.length).map((planes) => {
      const line = element("div", undefined, "evidence");
      line.append(...planes);
      return line;
    });
    const close = element("button", "Close");
    close.type = "button";
    close.addEventListener("click", () => { panel.hidden = true; remember(); });
    const [name, exact, accepted, got, error] = detail.worst ?? [];
    const worst = name && `${name}: exact ${exact}, accepted ${accepted}, got ${got}${error && ` (${error})`}`;
    panel.replaceChildren(
      element("h3", row.v), close,
      facts([
        ["Operator", names[row.o]], ["Status", names[row.s]], ["Type", names[row.t]], ["Level", names[row.l]], ["Time", took(row)],
        ["Negative test for", row.r === undefined ? undefined : names[row.r]],
        ["Cause", cause], ["Message", message(row)], ["Worst element", worst],
        ["Precision reached", row.p === undefined ? undefined : names[row.p]],
      ]),
      element("h4", "Attributes and shapes"),
      request.length ? facts(request) : element("p", "Not in the log."),
      ...(row.e.length ? [element("h4", "Coverage targets"), edges] : []),
      ...(arrays.length ? [element("h4", "Arrays"), ...arrays] : []),
      element("h4", "Show this vector"), element("pre", `${show[0]}${row.v}${show[1]}`),
    );
    panel.hidden = false;
  };

  const open = (id) => {
    const row = rows.find((row) => row.v === id);
    if (!row) {
      byId("filter-count").textContent = `no vector ${id} here`;
      byId("every-vector").scrollIntoView();
      return;
    }
    showVector(row);
    byId("vector-detail").scrollIntoView();
    byId("vector-detail").focus({ preventScroll: true });
  };

  const recall = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    if (state.has("vector")) { open(state.get("vector")); return; }
    if (state.has("cause") || ![...state.values()].some(Boolean)) return;
    for (const field of fields) {
      const content = state.get(field.dataset.key === "cause" ? "of" : field.dataset.key) ?? "";
      field.value = content;
      // A value that no vector has selects no vector, rather than all.
      if (field.value !== content) { field.append(new Option(content)); field.value = content; }
    }
    sorted = state.get("sort") ?? "";
    byId("vector-detail").hidden = true;
    narrow();
    byId("every-vector").scrollIntoView();
  };

  form.addEventListener("input", () => { narrow(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { sorted = ""; narrow(); remember(); }));
  for (const [id, step] of [["page-before", -1], ["page-after", 1]]) {
    byId(id).addEventListener("click", () => { page += step; draw(); });
  }
  for (const head of heads) {
    const button = element("button", head.textContent);
    button.type = "button";
    head.dataset.name = head.textContent.toLowerCase();
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      sorted = sorted === head.dataset.name ? `-${sorted}` : head.dataset.name;
      narrow();
      remember();
    });
  }
  for (const cell of document.querySelectorAll("[data-filter]")) {
    const anchor = link(cell.dataset.filter);
    anchor.append(...cell.childNodes);
    cell.append(anchor);
  }
  for (const hint of document.querySelectorAll(".scripted")) hint.hidden = false;

  byId("every-vector").hidden = false;
  narrow();
  recall();
  addEventListener("hashchange", recall);
})();
