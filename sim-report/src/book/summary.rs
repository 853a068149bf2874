//! The list of chapters, from `SUMMARY.md`.

/// Parts of the book in the order of reading.
pub(super) struct Summary {
    pub(super) parts: Vec<Part>,
}

/// Part with a heading, or the chapters before the first heading.
pub(super) struct Part {
    pub(super) title: String,
    pub(super) chapters: Vec<Chapter>,
}

/// Line of the summary.
pub(super) struct Chapter {
    pub(super) title: String,
    /// Name of the source without `.md`.
    pub(super) stem: String,
}

impl Summary {
    pub(super) fn parse(text: &str) -> Summary {
        let mut parts = vec![Part { title: String::new(), chapters: Vec::new() }];
        for line in text.lines().filter(|line| *line != "# Summary") {
            if let Some(title) = line.strip_prefix("# ") {
                parts.push(Part { title: title.to_owned(), chapters: Vec::new() });
            } else if let Some(chapter) = chapter(line)
                && let Some(part) = parts.last_mut()
            {
                part.chapters.push(chapter);
            }
        }
        Summary { parts }
    }
}

fn chapter(line: &str) -> Option<Chapter> {
    let (title, rest) = line.trim_start_matches("- ").strip_prefix('[')?.split_once("](")?;
    let stem = rest.strip_suffix(".md)")?;
    Some(Chapter { title: title.to_owned(), stem: stem.to_owned() })
}
