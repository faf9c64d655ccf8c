//! Line and bar charts as SVG.

use maud::{Markup, html};

/// A line with a name.
pub struct Line {
    /// Its name.
    pub name: String,
    /// Where it goes.
    pub points: Vec<(f64, f64)>,
}

/// A chart of a few lines over the same x values.
pub struct Chart<'a> {
    /// Below it.
    pub title: String,
    /// What the x axis counts.
    pub x: &'a str,
    /// What the y axis counts.
    pub y: &'a str,
    /// Whether the y axis counts powers of ten.
    pub logarithmic: bool,
    /// The lines.
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
/// Room for the labels: left, right, top, bottom.
const MARGINS: (f64, f64, f64, f64) = (72.0, 90.0, 16.0, 44.0);

impl Chart<'_> {
    /// The chart as a figure.
    pub fn draw(&self) -> Markup {
        let (left, right, top, bottom) = MARGINS;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let range = |values: &dyn Fn(&(f64, f64)) -> f64| {
            let low = points().map(values).fold(f64::INFINITY, f64::min);
            let high = points().map(values).fold(f64::NEG_INFINITY, f64::max);
            if high > low { (low, high) } else { (low - 0.5, low + 0.5) }
        };
        let scale = |value: f64| if self.logarithmic { value.max(1e-9).log10() } else { value };
        let x_range = range(&|point| point.0);
        let (y_low, y_high) = range(&|point| scale(point.1));
        let step = round_step(y_high / 4.0);
        let y_range =
            if self.logarithmic { (y_low.floor(), y_high.ceil()) } else { (0.0, (y_high / step).ceil() * step) };
        let place = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low).max(f64::MIN_POSITIVE);
        let x_at = |x: f64| left + place(x, x_range) * (WIDTH - left - right);
        let y_at = |y: f64| HEIGHT - bottom - place(scale(y), y_range) * (HEIGHT - top - bottom);
        let ticks: Vec<f64> = if self.logarithmic {
            (y_range.0 as i32..=y_range.1 as i32).map(|power| 10f64.powi(power)).collect()
        } else {
            (0..=(y_range.1 / step).round() as u32).map(|tick| step * f64::from(tick)).collect()
        };
        let xs: Vec<f64> =
            self.lines.first().map_or(Vec::new(), |line| line.points.iter().map(|point| point.0).collect());
        html! {
            figure {
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(self.title) {
                    @for tick in &ticks {
                        line class="grid" x1=(left) x2=(WIDTH - right) y1=(y_at(*tick)) y2=(y_at(*tick)) {}
                        text x=(left - 6.0) y=(y_at(*tick) + 4.0) text-anchor="end" { (short(*tick)) }
                    }
                    @for x in &xs {
                        text x=(x_at(*x)) y=(HEIGHT - bottom + 18.0) text-anchor="middle" { (short(*x)) }
                    }
                    text x=((left + WIDTH - right) / 2.0) y=(HEIGHT - 6.0) text-anchor="middle" { (self.x) }
                    text x="12" y=(top + (HEIGHT - top - bottom) / 2.0) text-anchor="middle"
                        transform={ "rotate(-90 12 " (top + (HEIGHT - top - bottom) / 2.0) ")" } { (self.y) }
                    @for (number, line) in self.lines.iter().enumerate() {
                        @let path = line.points.iter().map(|&(x, y)| format!("{:.1},{:.1}", x_at(x), y_at(y)));
                        polyline class={ "line c" (number) } points=(path.collect::<Vec<_>>().join(" ")) {}
                        @for &(x, y) in &line.points {
                            circle class={ "c" (number) } cx=(x_at(x)) cy=(y_at(y)) r="3" { title { (line.name) ": " (y) } }
                        }
                        line class={ "line c" (number) } x1=(WIDTH - right + 8.0) x2=(WIDTH - right + 24.0)
                            y1=(top + 10.0 + 18.0 * number as f64) y2=(top + 10.0 + 18.0 * number as f64) {}
                        text x=(WIDTH - right + 28.0) y=(top + 14.0 + 18.0 * number as f64) { (line.name) }
                    }
                }
                figcaption { (self.title) }
            }
        }
    }
}

/// A bar for each name; the first `own` of them stand out.
pub fn bars(title: &str, values: &[(&str, f64)], own: usize) -> Markup {
    const ROW: f64 = 26.0;
    const NAMES: f64 = 190.0;
    const LENGTH: f64 = 420.0;
    let largest = values.iter().map(|value| value.1).fold(f64::MIN_POSITIVE, f64::max);
    html! {
        figure {
            svg viewBox={ "0 0 700 " (ROW * values.len() as f64) } role="img" aria-label=(title) {
                @for (row, (name, value)) in values.iter().enumerate() {
                    @let (top, length) = (ROW * row as f64, (LENGTH * value / largest).max(1.0));
                    text x=(NAMES - 8.0) y=(top + 17.0) text-anchor="end" { (name) }
                    rect class=(if row < own { "c1" } else { "c0" }) x=(NAMES) y=(top + 4.0) width=(length) height=(ROW - 8.0) {}
                    text x=(NAMES + length + 6.0) y=(top + 17.0) { (tidy(*value)) }
                }
            }
            figcaption { (title) }
        }
    }
}

/// Columns side by side, for each name how many there are.
pub fn histogram(title: &str, values: &[(String, u64)]) -> Markup {
    const WIDTH: f64 = 700.0;
    const HEIGHT: f64 = 180.0;
    const LABELS: f64 = 20.0;
    // Half a label on either side.
    const SIDE: f64 = 16.0;
    let largest = values.iter().map(|value| value.1).max().unwrap_or(0).max(1) as f64;
    let step = (WIDTH - 2.0 * SIDE) / values.len().max(1) as f64;
    // A label for about each tenth column.
    let every = values.len().div_ceil(12).max(1);
    html! {
        figure {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(title) {
                @for (at, (name, count)) in values.iter().enumerate() {
                    @let tall = (*count as f64 / largest * (HEIGHT - LABELS - 4.0)).max(if *count > 0 { 1.0 } else { 0.0 });
                    rect class="c1" x=(format!("{:.1}", SIDE + step * at as f64)) y=(format!("{:.1}", HEIGHT - LABELS - tall))
                        width=(format!("{:.1}", (step - 1.0).max(1.0))) height=(format!("{tall:.1}")) {
                        title { (name) ": " (count) }
                    }
                    @if at % every == 0 {
                        text x=(format!("{:.1}", SIDE + step * (at as f64 + 0.5))) y=(HEIGHT - 5.0) text-anchor="middle" { (name) }
                    }
                }
            }
            figcaption { (title) }
        }
    }
}

/// The next of 1, 2, 5, 10, 20, … tenths and so on that is not below the value.
fn round_step(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|&step| step >= value).unwrap_or(value)
}

/// A number in a few characters.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1e9 => format!("{}G", tidy(value / 1e9)),
        v if v >= 1e6 => format!("{}M", tidy(value / 1e6)),
        v if v >= 1e3 => format!("{}k", tidy(value / 1e3)),
        _ => tidy(value),
    }
}

fn tidy(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
