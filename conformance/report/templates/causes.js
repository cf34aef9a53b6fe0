// Causes: a filter over their index, and links that open them.
(() => {
  const byId = (id) => document.getElementById(id);
  const entries = [...document.querySelectorAll(".index [data-cause]")];
  const articles = new Map([...document.querySelectorAll("details[data-cause]")].map((article) => [article.dataset.cause, article]));

  const open = () => {
    const article = articles.get(new URLSearchParams(location.hash.slice(1)).get("cause"));
    if (!article) return;
    for (let outer = article; outer; outer = outer.parentElement.closest("details")) outer.open = true;
    article.hidden = false;
    article.scrollIntoView();
  };
  addEventListener("hashchange", open);

  const form = byId("cause-filter");
  if (form) {
    const field = byId("cause-text");
    const filter = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const entry of entries) {
        const matches = words.every((word) => entry.dataset.words.includes(word));
        entry.hidden = !matches;
        articles.get(entry.dataset.cause).hidden = !matches;
        count += matches;
      }
      byId("cause-count").textContent = `${count} of ${entries.length} causes shown`;
    };
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();
  }
  open();
})();
