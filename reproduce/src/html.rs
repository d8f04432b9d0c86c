//! The report as one self-contained page.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{
    outcome::{Finished, Outcome},
    report::{Block, Cell, Claim, Gallery, Image, Section, Table, Verdict},
};

const STYLE: &str = include_str!("style.css");
/// The number of characters of a long text that are shown before it is unfolded.
const SHOWN: usize = 160;

/// The heading and contents of the page.
pub(crate) struct Page<'a> {
    /// One line on the machine, the version and the seed.
    pub(crate) made: String,
    /// All parts, including the skipped ones with the reason.
    pub(crate) parts: Vec<&'a Finished>,
}

/// Returns the whole page.
pub(crate) fn render(page: &Page<'_>) -> String {
    let done = || page.parts.iter().filter_map(|finished| Some((finished.part.name(), finished.section()?)));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Partition-DPPs: the paper, reproduced" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "On sampling and greedy MAP inference of constrained DPPs, reproduced" }
                    p {
                        "Tarun Kathuria and Amit Deshpande (2016): their tables and figures, computed again, with "
                        "exact numbers beside what was sampled, and bounds beside what was maximised."
                    }
                    p.made { (page.made) }
                    nav {
                        a href="#claims" { "claims" }
                        @for finished in &page.parts {
                            a href={ "#" (finished.part.name()) } { (finished.part.name()) }
                        }
                    }
                }
                main {
                    section id="claims" {
                        h2 { "What the paper says, and what was found" }
                        @for (name, section) in done() {
                            h3 { (section.title) }
                            (claims(name, &section.claims))
                        }
                    }
                    @for finished in &page.parts {
                        section id=(finished.part.name()) {
                            @match &finished.outcome {
                                Outcome::Done(part) => (section(part)),
                                Outcome::Skipped(reason) => {
                                    h2 { (finished.part.name()) }
                                    p.stand-in { "Skipped: " (reason) "." }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    .into_string()
}

fn claims(part: &str, claims: &[Claim]) -> Markup {
    html! {
        table.claims {
            thead { tr { th { "the paper" } th { "here" } th { "" } } }
            tbody {
                @for claim in claims {
                    tr {
                        td { (claim.paper) }
                        td { (claim.here) }
                        td class={ "verdict " (class(claim.verdict)) } {
                            a href={ "#" (part) } { (claim.verdict.name()) }
                        }
                    }
                }
            }
        }
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Partly => "partly",
        Verdict::DoesNotHold => "fails",
    }
}

fn section(section: &Section) -> Markup {
    html! {
        h2 { (section.title) }
        @if let Some(reason) = &section.stand_in { p.stand-in { (reason) } }
        @for block in &section.blocks {
            @match block {
                Block::Text(text) => p { (text) },
                Block::Table(block) => (table(block)),
                Block::Folded(block) => details {
                    summary { "The numbers: " (block.rows.len()) " rows" }
                    (table(block))
                },
                Block::Figure(block) => figure {
                    (PreEscaped(&block.svg))
                    figcaption { (block.caption) " " span.file { (block.name) ".svg" } }
                },
                Block::Gallery(block) => (gallery(block)),
                Block::FoldedGallery(block) => details {
                    summary { (block.summary()) }
                    (gallery(block))
                },
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        figure.table {
            div.scroll {
                table.wide[table.header.len() > 9] {
                    thead {
                        tr {
                            @for (column, name) in table.header.iter().enumerate() {
                                th.number[table.is_numeric(column)] { (name) }
                            }
                        }
                    }
                    tbody { @for row in &table.rows { tr { @for value in row { (cell(value)) } } } }
                }
            }
            figcaption { (table.caption) " " span.file { (table.name) ".csv" } }
        }
    }
}

fn cell(cell: &Cell) -> Markup {
    match cell {
        Cell::Text(text) => html! { td { (text) } },
        Cell::Long(text) if text.chars().count() > SHOWN => {
            let start: String = text.chars().take(SHOWN).collect();
            html! { td.long { details { summary { (start) "…" } (text) } } }
        }
        Cell::Long(text) => html! { td.long { (text) } },
        Cell::Number { shown, .. } => html! { td.number { (shown) } },
        Cell::Missing => html! { td.number { "–" } },
    }
}

fn gallery(gallery: &Gallery) -> Markup {
    html! {
        figure.table {
            div.scroll {
                table.gallery {
                    thead { tr { th {} @for name in &gallery.header { th { (name) } } } }
                    tbody {
                        @for (name, columns) in &gallery.rows {
                            tr { th { (name) } @for images in columns { td { @for one in images { (image(one)) } } } }
                        }
                    }
                }
            }
            figcaption { (gallery.caption) }
        }
    }
}

fn image(image: &Image) -> Markup {
    let source = format!("data:image/png;base64,{}", STANDARD.encode(&image.png));
    html! { span.face { img src=(source) alt=(image.title); span { (image.title) } } }
}
