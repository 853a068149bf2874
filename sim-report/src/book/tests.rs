use super::*;

fn sources() -> Sources {
    let files = [
        (
            "docs/book/src/SUMMARY.md",
            "# Summary\n\n[Start](start.md)\n\n# Part\n\n- [1. One](1-one.md)\n[Answers](answers.md)\n",
        ),
        (
            "docs/book/src/start.md",
            "# Start\n\nGo to [one](1-one.md#the-end) and read `docs/flows.md`.\n",
        ),
        (
            "docs/book/src/1-one.md",
            "# 1. One\n\n<!-- slide -->\nA key sentence.\n\n```console\n$ n2sim a \\\n    b\nout <1>\n```\n\n## The end\n\n\
             ![A figure](figures/f.svg)\n\n### 1.1 Try\n\nSee `docs/book/scenarios/1.toml`.\n",
        ),
        ("docs/book/src/answers.md", "# Answers\n\n## 1.1 Try\n\nForty-two.\n"),
        ("docs/book/src/figures/f.svg", "<svg><title id=\"t\">F</title></svg>"),
        ("docs/book/scenarios/1.toml", "do = \"NOP\"\n"),
        ("docs/flows.md", "# Flows\n\nText of a document, and [no page](other.md).\n"),
        ("docs/other.md", "# Other\n"),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

fn text(name: &str) -> String {
    let files = site(&sources());
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let found = files.iter().find(|file| file.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {names:?}")).text.clone()
}

#[track_caller]
fn expect(page: &str, part: &str) {
    let text = text(page);
    assert!(text.contains(part), "{page} has no {part}: {text}");
}

#[test]
fn links_lead_to_the_pages_of_the_site() {
    expect("index.html", r#"<a href="1-one.html#the-end">one</a>"#);
    expect("index.html", r#"<a href="flows.html"><code>docs/flows.md</code></a>"#);
    expect("1-one.html", r#"<a href="files.html#docsbookscenarios1toml">"#);
    expect("flows.html", "and no page.");
    assert!(!site(&sources()).iter().any(|file| file.name == "other.html"), "nothing names it");
}

#[test]
fn a_console_block_marks_its_commands() {
    expect(
        "1-one.html",
        "<span class=\"prompt\">$ </span><b class=\"command\">n2sim a \\</b>\n<b class=\"command\">    b</b>\nout &lt;1&gt;",
    );
}

#[test]
fn answers_are_folded_below_their_exercises_and_on_their_page() {
    let folded = "<details class=\"answer\"><summary>Answer to 1.1</summary><p>Forty-two.</p>";
    expect("1-one.html", folded);
    expect("answers.html", folded);
}

#[test]
fn figures_are_parts_of_pages_and_slides() {
    for page in ["1-one.html", "slides-1-one.html"] {
        expect(page, "<title id=\"1-one-f1-t\">F</title>");
        expect(page, "<figcaption>A figure</figcaption>");
    }
}

#[test]
fn slides_of_chapters_have_the_frame_of_other_slides() {
    expect("slides-1-one.html", "<title>Slides: 1. One</title>");
    expect("slides-1-one.html", "<p><a href=\"1-one.html\">Read the chapter</a></p>");
    expect("slides-1-one.html", "<h1>1. One</h1>");
    expect("slides-1-one.html", "default-src 'none'");
}

#[test]
fn slides_have_the_marked_blocks_only() {
    expect("slides-1-one.html", "<p>A key sentence.</p>");
    assert!(!text("slides-1-one.html").contains("Forty-two"), "an answer is not marked");
    let files = site(&sources());
    assert!(!files.iter().any(|file| file.name == "slides-start.html"), "nothing is marked there");
}

#[test]
fn the_index_has_headings_and_texts_without_outputs() {
    expect(
        "search-index.js",
        r##""a":"flows.html#flows","p":"Flows","h":"Flows","t":"Text of a document, and no page. ""##,
    );
    assert!(!text("search-index.js").contains("out <1>"), "an output is not searched");
}

#[test]
fn one_page_has_all_chapters_with_links_inside() {
    expect("whole-book.html", r##"<a href="#1-one--the-end">one</a>"##);
    expect("whole-book.html", r#"<h2 id="1-one--the-end">"#);
}

#[test]
fn pages_name_their_neighbors() {
    expect("1-one.html", r#"<a rel="prev" href="index.html">Previous: Start</a>"#);
    expect("1-one.html", r#"<a rel="next" href="answers.html">Next: Answers</a>"#);
}
