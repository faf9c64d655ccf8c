//! The page itself: its style, its tables.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
.scroll { overflow-x: auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { text-align: center; font-size: .9rem; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: currentColor; }
.grid { stroke: var(--line); } .line { fill: none; stroke-width: 2; }
.c0 { stroke: #c2410c; fill: #c2410c; } .c1 { stroke: #2563eb; fill: #2563eb; }
.c2 { stroke: #16a34a; fill: #16a34a; } .c3 { stroke: #9333ea; fill: #9333ea; }
ins { background: #16a34a33; text-decoration: none; } del { background: #dc262633; }
.group { border-top: 1px solid var(--line); padding: .5rem 0; } .group summary { cursor: pointer; }
.record { margin: .4rem 0 .4rem 1rem; overflow-wrap: anywhere; white-space: pre-wrap; }
.id { display: block; font-size: .85rem; opacity: .75; }
input[type=range] { width: 100%; } .off { opacity: .2; }
.diagram { max-width: none; } .box rect { fill: Canvas; stroke: currentColor; } .box .head { font-weight: 600; }
.edge { fill: none; stroke: #2563eb; stroke-width: 2; cursor: pointer; } .edge:hover, .edge:focus, .edge.marked { stroke: #c2410c; stroke-width: 3; outline: none; }
.edge.off { opacity: .08; } .score { opacity: .75; } .relation summary, .table summary { overflow-wrap: anywhere; }
.table td { max-width: 18rem; overflow-wrap: anywhere; } input[type=search] { font: inherit; max-width: 100%; }
.line.c0, .line.c1, .line.c2, .line.c3 { fill: none; }
";

/// A table with a caption; the first column holds names.
pub fn table(caption: &str, header: &[&str], rows: &[Vec<String>]) -> Markup {
    html! {
        div class="scroll" {
            table {
                caption { (caption) }
                thead { tr { @for name in header { th { (name) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

/// A page with a title.
pub fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { h1 { (title) } (body) }
        }
    };
    page.into_string()
}
