// The table of vectors: filters, an order, pages, and all that is known of one vector.
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
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const link = (address, text) => {
    const made = element("a", text);
    made.href = address;
    return made;
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
  for (const field of fields.filter((one) => one.tagName === "SELECT")) {
    const key = field.dataset.key;
    const all = fillers[key] ? fillers[key]() : rows.map(value[key]);
    for (const one of [...new Set(all)].filter(Boolean).sort(collator.compare)) field.append(new Option(one));
  }

  // What a search looks through, made when it is first needed.
  const texts = new Map();
  const text = (row) => {
    if (!texts.has(row)) {
      const edges = row.e.map((edge) => names[edge]);
      texts.set(row, [...columns.filter((column) => column !== took).map((column) => column(row)), ...edges].join("\n").toLowerCase());
    }
    return texts.get(row);
  };
  const hit = (asked, row) => asked.every(([key, wanted]) =>
    key === "text" ? text(row).includes(wanted.toLowerCase())
      : key === "edge" ? row.e.some((edge) => names[edge] === wanted) : value[key](row) === wanted);

  let sorted = "", found = rows, page = 0;

  const draw = () => {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(Math.max(0, page), pages - 1);
    body.replaceChildren(...found.slice(page * PAGE, (page + 1) * PAGE).map((row) => {
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

  const asked = () => fields.filter((field) => field.value.trim())
    .map((field) => [field.dataset.key, field.value.trim()]);

  const narrow = () => {
    const wanted = asked();
    found = wanted.length ? rows.filter((row) => hit(wanted, row)) : [...rows];
    const place = heads.findIndex((head) => head.dataset.name === sorted.replace("-", ""));
    for (const [n, head] of heads.entries()) {
      if (n === place) head.setAttribute("aria-sort", sorted.startsWith("-") ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    if (place >= 0) {
      const timed = columns[place] === took;
      const keys = new Map(found.map((row) => [row, timed ? row.d ?? 0 : columns[place](row)]));
      const compare = timed ? (a, b) => a - b : collator.compare;
      const down = sorted.startsWith("-") ? -1 : 1;
      found.sort((a, b) => down * compare(keys.get(a), keys.get(b)));
    }
    byId("filter-count").textContent = `${number(found.length)} of ${number(rows.length)} shown`;
    page = 0;
    draw();
  };

  // The state of the table stands in the address, so that it can be sent to somebody.
  const remember = () => {
    const state = asked().map(([key, wanted]) => [key === "cause" ? "of" : key, wanted]);
    if (sorted) state.push(["sort", sorted]);
    history.replaceState(null, "", `#${new URLSearchParams(state) || "vectors"}`);
  };

  const facts = (pairs) => {
    const list = element("dl", undefined, "facts");
    for (const [name, content] of pairs) {
      if (content === undefined || content === "") continue;
      const part = element("div");
      const told = element("dd");
      told.append(content);
      part.append(element("dt", name), told);
      list.append(part);
    }
    return list;
  };

  const SIDE = 16, SLICES = 4;
  const grid = (caption, plane, other) => {
    const made = element("table", undefined, "plane");
    made.append(element("caption", caption));
    for (const [y, line] of plane.slice(0, SIDE).entries()) {
      const row = made.insertRow();
      for (const [x, one] of line.slice(0, SIDE).entries()) {
        const cell = row.insertCell();
        cell.textContent = one;
        if (other && other[y]?.[x] !== one) cell.className = "differs";
      }
    }
    const scroll = element("div", undefined, "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", caption);
    scroll.append(made);
    return scroll;
  };
  const flat = (array, place = []) => {
    if (!Array.isArray(array?.[0])) return [[place, [array]]];
    if (!Array.isArray(array[0][0])) return [[place, array]];
    return array.flatMap((part, n) => flat(part, [...place, n]));
  };
  const grids = (name, arrays, others) => (arrays ?? []).flatMap((array, n) => {
    if (!array) return [];
    const slices = flat(array), right = others?.[n] ? flat(others[n]) : [];
    const many = arrays.length > 1 ? ` ${n + 1}` : "";
    const shown = slices.slice(0, SLICES).map(([place, plane], m) => {
      const at = place.some(Boolean) || slices.length > 1 ? `, at ${place.join(", ")}` : "";
      // The expected value is the rounded one; others within the accepted interval are no failure.
      const marks = right[m] ? " (marked values differ; some may be within tolerance)" : "";
      return grid(`${name}${many}${at}${marks}`, plane, right[m]?.[1]);
    });
    if (slices.length > SLICES) shown.push(element("p", `${name}${many}: ${slices.length - SLICES} slices more`));
    return shown;
  });

  const tell = (row) => {
    const panel = byId("vector-detail");
    const asks = Object.entries(row.a ?? {}).map(([name, one]) => [name.replace("attributes, ", ""), one]);
    const edges = element("ul", undefined, "edges");
    edges.append(...row.e.map((edge) => {
      const item = element("li");
      item.append(link(address("edge", names[edge]), names[edge]));
      return item;
    }));
    const cause = row.c === undefined ? undefined : link(address("cause", causes[row.c][0]), causes[row.c][1]);
    const detail = row.x ?? {};
    const arrays = [grids("Input", detail.inputs), grids("Expected", detail.expected),
      grids("Got", detail.got, detail.expected)].filter((some) => some.length).map((some) => {
      const line = element("div", undefined, "evidence");
      line.append(...some);
      return line;
    });
    const close = element("button", "Close");
    close.type = "button";
    close.addEventListener("click", () => { panel.hidden = true; remember(); });
    const [place, exact, accepted, got, off] = detail.worst ?? [];
    const worst = place && `${place}: exact ${exact}, accepted ${accepted}, got ${got}${off && ` (${off})`}`;
    panel.replaceChildren(
      element("h3", row.v), close,
      facts([
        ["Operator", names[row.o]], ["Status", names[row.s]], ["Type", names[row.t]], ["Level", names[row.l]], ["Time", took(row)],
        ["Negative test for", row.r === undefined ? undefined : names[row.r]],
        ["Cause", cause], ["Message", message(row)], ["Worst element", worst],
        ["Precision reached", row.p === undefined ? undefined : names[row.p]],
      ]),
      element("h4", "Attributes and shapes"),
      asks.length ? facts(asks) : element("p", "Not in the log."),
      ...(row.e.length ? [element("h4", "Coverage targets"), edges] : []),
      ...(arrays.length ? [element("h4", "Arrays"), ...arrays] : []),
      element("h4", "Show this vector"), element("pre", `${show[0]}${row.v}${show[1]}`),
    );
    panel.hidden = false;
  };

  const open = (id) => {
    const row = rows.find((one) => one.v === id);
    if (!row) {
      byId("filter-count").textContent = `no vector ${id} here`;
      byId("every-vector").scrollIntoView();
      return;
    }
    tell(row);
    byId("vector-detail").scrollIntoView();
    byId("vector-detail").focus({ preventScroll: true });
  };

  const recall = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    if (state.has("vector")) { open(state.get("vector")); return; }
    if (state.has("cause") || ![...state.values()].some(Boolean)) return;
    for (const field of fields) {
      const wanted = state.get(field.dataset.key === "cause" ? "of" : field.dataset.key) ?? "";
      field.value = wanted;
      // A value that no vector has shows none, rather than all.
      if (field.value !== wanted) { field.append(new Option(wanted)); field.value = wanted; }
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
    const made = link(cell.dataset.filter);
    made.append(...cell.childNodes);
    cell.append(made);
  }
  for (const hint of document.querySelectorAll(".scripted")) hint.hidden = false;

  byId("every-vector").hidden = false;
  narrow();
  recall();
  addEventListener("hashchange", recall);
})();
