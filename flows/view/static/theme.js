// Runs before the first paint, so that a page in the chosen colours never flashes in others.
(() => {
  let chosen = "";
  try { chosen = localStorage.getItem("lakatos-colours") ?? ""; } catch { /* no storage: as the system has it */ }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
})();
