"use strict";
// How far collection is. The token stands behind the # of the address, which browsers do not send anywhere.
(() => {
  const token = decodeURIComponent(location.hash.slice(1));
  const at = (id) => document.getElementById(id);
  const statuses = ["completed", "active", "partial", "stopped", "returned", "timed_out", "screened_out"];

  function link(id, path) {
    const address = new URL(path, location.origin).href;
    at(id).href = address;
    at(id).textContent = address;
  }

  async function refresh() {
    let problem = "";
    try {
      const response = await fetch("/researcher/api/status", { headers: { Authorization: `Bearer ${token}` } });
      if (response.status === 401) {
        problem = "The token is missing or wrong. Open the researcher's link that was printed when the server started.";
      } else if (!response.ok) {
        problem = `The server answers ${response.status}.`;
      } else {
        const status = await response.json();
        at("experiments").tBodies[0].replaceChildren(
          ...status.experiments.map((item) => {
            const row = document.createElement("tr");
            const counts = statuses.map((name) => item.people[name] ?? 0);
            for (const value of [item.name, item.open ? "yes" : "no", item.wanted, ...counts]) {
              row.append(Object.assign(document.createElement("td"), { textContent: String(value) }));
            }
            return row;
          }),
        );
        at("experiments").hidden = at("links").hidden = false;
        link("study-link", status.study);
        link("preview-link", status.preview);
      }
    } catch {
      problem = "The server does not answer.";
    }
    at("problem").textContent = problem;
    setTimeout(refresh, 5000);
  }

  refresh();
})();
