//! Units of a bandwidth, such as `GB/s`, `MiB/s`, `Gbit/s` and `Bytes per second`.
//!
//! A text is read as a whole. One that may mean two units, such as `gb/s`, has no meaning here.

/// Prefixes: letters in an abbreviation, the word, and the factor.
const PREFIXES: [(&str, &str, f64); 9] = [
    ("", "", 1.0),
    ("k", "kilo", 1e3),
    ("m", "mega", 1e6),
    ("g", "giga", 1e9),
    ("t", "tera", 1e12),
    ("ki", "kibi", 1024.0),
    ("mi", "mebi", 1_048_576.0),
    ("gi", "gibi", 1_073_741_824.0),
    ("ti", "tebi", 1_099_511_627_776.0),
];
/// Words of data, with their bytes.
const WORDS: [(&str, f64); 4] = [("bytes", 1.0), ("byte", 1.0), ("bits", 0.125), ("bit", 0.125)];

/// Returns the bytes per second in one unit of a bandwidth. None if the text is not known to be
/// one.
pub(crate) fn bytes_per_second(unit: &str) -> Option<f64> {
    // What is moved may follow: `GB/s of lines`.
    let unit = unit.split_once(" of ").map_or(unit, |(unit, _)| unit).trim();
    let lower = unit.to_ascii_lowercase();
    if let Some((data, time)) = unit.split_once('/') {
        return is_second(time.trim()).then(|| bytes(data.trim()))?;
    }
    if let Some(at) = lower.find(" per ") {
        return is_second(lower[at + 5..].trim()).then(|| bytes(unit[..at].trim()))?;
    }
    bytes(unit.strip_suffix("ps")?)
}

fn is_second(text: &str) -> bool {
    ["s", "sec", "second", "seconds"].iter().any(|own| text.eq_ignore_ascii_case(own))
}

/// Returns the bytes in one unit of data.
fn bytes(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    if let Some((prefix, bytes)) =
        WORDS.iter().find_map(|(word, bytes)| Some((lower.strip_suffix(word)?, bytes)))
    {
        let is_own = |(short, word, _): &&(&str, &str, f64)| [*short, *word].contains(&prefix);
        return PREFIXES.iter().find(is_own).map(|(.., factor)| factor * bytes);
    }
    // A capital B is bytes. A small one is bits, unless no letter is a capital.
    let (prefix, bytes) = match text.strip_suffix('B') {
        Some(prefix) => (prefix, 1.0),
        None => {
            (text.strip_suffix('b').filter(|own| own.starts_with(['K', 'M', 'G', 'T']))?, 0.125)
        }
    };
    let is_own = |(short, ..): &&(&str, &str, f64)| prefix.eq_ignore_ascii_case(short);
    PREFIXES.iter().find(is_own).map(|(.., factor)| factor * bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_units_are_read() {
        for (text, bytes) in [
            ("B/s", 1.0),
            ("Bytes per second", 1.0),
            ("bytes/sec", 1.0),
            ("KB/s", 1e3),
            ("kB/s", 1e3),
            ("MB/s", 1e6),
            ("MBytes/s", 1e6),
            ("Megabytes per second", 1e6),
            ("GB/s", 1e9),
            ("GB/s of lines", 1e9),
            ("GBps", 1e9),
            ("TB / s", 1e12),
            ("KiB/s", 1024.0),
            ("MiB/s", 1_048_576.0),
            ("Gibibytes per second", 1_073_741_824.0),
            ("bits per second", 0.125),
            ("Gb/s", 0.125e9),
            ("Gbit/s", 0.125e9),
            ("Mbps", 0.125e6),
            ("Mibit/s", 131_072.0),
        ] {
            assert_eq!(bytes_per_second(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_units_of_a_bandwidth() {
        for text in [
            "",
            "None",
            "lines",
            "requests",
            "GB",
            "gb/s",
            "b/s",
            "bps",
            "xGB/s",
            "GB/ms",
            "B/cycle",
            "GB/s/core",
            "Percentage",
            "per 1000 mesh cycles",
            "Snoops per 1K clks",
            "MPKI",
            "é/s",
        ] {
            assert_eq!(bytes_per_second(text), None, "{text}");
        }
    }
}
