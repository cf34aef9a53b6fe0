"use strict";
// A page is whole without this: it adds a theme switch and copying.
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
        byId("said").textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; byId("said").textContent = ""; }, 2000);
      } catch {
        // No clipboard here (an old browser, a plain connection): leave the text selected.
        getSelection().selectAllChildren(code);
      }
    });
  }
})();
