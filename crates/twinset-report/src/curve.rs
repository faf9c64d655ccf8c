//! What every threshold would give, with a slider to look at it.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

/// Numbers at each of some thresholds, from strict to lax.
#[derive(Debug, Clone, Serialize)]
pub struct Steps {
    /// The thresholds, as they are written.
    pub thresholds: Vec<String>,
    /// How many pairs there are at each.
    pub pairs: Vec<u64>,
    /// How many groups of at least two records they form.
    pub groups: Vec<u64>,
    /// How many records would be removed.
    pub removed: Vec<u64>,
}

/// Moves the numbers with the slider. The steps stand in the page.
const SCRIPT: &str = "
const steps = JSON.parse(document.getElementById('steps').textContent);
const slider = document.getElementById('threshold');
const show = () => {
  const at = slider.valueAsNumber;
  document.getElementById('at').textContent = steps.thresholds[at];
  slider.setAttribute('aria-valuetext', steps.thresholds[at]);
  for (const name of ['pairs', 'groups', 'removed'])
    document.getElementById(name).textContent = steps[name][at].toLocaleString('en');
  document.querySelectorAll('#curve .bar').forEach((bar, n) => bar.classList.toggle('off', n > at));
};
slider.addEventListener('input', show);
show();
";

impl Steps {
    /// A slider over the thresholds, what each gives, and a bar for each.
    pub fn draw(&self) -> Markup {
        let last = self.thresholds.len().saturating_sub(1);
        // Inside a script element only this could end it.
        let json = serde_json::to_string(self).unwrap_or_default().replace("</", "<\\/");
        let largest = self.pairs.iter().max().copied().unwrap_or(0).max(1) as f64;
        let (width, height) = (700.0, 120.0);
        let step = width / self.pairs.len().max(1) as f64;
        html! {
            section id="curve" {
                label for="threshold" { "Threshold " strong id="at" { (self.thresholds.last().map_or("", String::as_str)) } }
                input type="range" id="threshold" min="0" max=(last) value=(last) step="1";
                p {
                    strong id="pairs" { (self.pairs.last().copied().unwrap_or(0)) } " pairs, "
                    strong id="groups" { (self.groups.last().copied().unwrap_or(0)) } " groups of connected records, "
                    strong id="removed" { (self.removed.last().copied().unwrap_or(0)) } " records removed"
                }
                svg viewBox={ "0 0 " (width) " " (height) } role="img" aria-label="Pairs at each threshold" {
                    @for (at, &pairs) in self.pairs.iter().enumerate() {
                        @let tall = (pairs as f64 / largest * (height - 4.0)).max(1.0);
                        rect class="bar c1" x=(format!("{:.1}", step * at as f64)) y=(format!("{:.1}", height - tall))
                            width=(format!("{:.1}", (step - 1.0).max(1.0))) height=(format!("{tall:.1}")) {
                            title { (self.thresholds[at]) ": " (pairs) " pairs" }
                        }
                    }
                }
            }
            script type="application/json" id="steps" { (PreEscaped(json)) }
            script { (PreEscaped(SCRIPT)) }
        }
    }
}
