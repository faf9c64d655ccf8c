// Moves results along with the sliders. Everything works without it, by the button.
"use strict";
const controls = document.getElementById("controls");
let asked = 0;

async function refresh() {
  const results = document.getElementById("results");
  const parameters = new URLSearchParams(new FormData(controls));
  for (const [name, value] of [...parameters]) if (value === "") parameters.delete(name);
  const address = "/?" + parameters;
  const mine = ++asked;
  results.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (mine !== asked) return;
    const fresh = page.getElementById("results") ?? page.querySelector("main > *");
    fresh.id = "results";
    results.replaceWith(document.adoptNode(fresh));
    if (response.ok) history.replaceState(null, "", address);
  } catch {
    if (mine !== asked) return;
    results.removeAttribute("aria-busy");
    const problem = document.createElement("p");
    problem.className = "problem";
    problem.setAttribute("role", "alert");
    problem.textContent = "The service cannot be reached. Is it still running?";
    results.prepend(problem);
  }
}

if (controls) {
  // On a phone the stories come first.
  if (matchMedia("(max-width: 50rem)").matches) controls.querySelector("details").open = false;
  controls.addEventListener("input", (event) => {
    const output = controls.querySelector(`output[for="${event.target.id}"]`);
    if (output) output.textContent = Number(event.target.value).toFixed(2);
  });
  controls.addEventListener("change", refresh);
  controls.addEventListener("submit", (event) => { event.preventDefault(); refresh(); });
}

// A slash leads to the search box, as on other sites.
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea, select");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    document.getElementById("q").focus();
  }
});
