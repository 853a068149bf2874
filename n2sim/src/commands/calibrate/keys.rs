//! The keys of a fit: those with a range in their source, and those that the options name.

use anyhow::{Context, bail};
use sim_calibrate::Key;
use sim_core::config::{Document, Range, Setting, Steps};

/// Groups of keys without a part of the machine that counts show.
const LEFT_OUT: [&str; 1] = ["spe."];

/// Returns the keys to fit.
///
/// # Errors
/// A key of the options does not exist, or has no range, or its value is outside of the range.
pub(super) fn keys(
    document: &Document,
    only: &[String],
    also: &[String],
) -> anyhow::Result<Vec<Key>> {
    let settings = document.settings();
    let mut ranges: Vec<(String, Range)> = Vec::new();
    let mut left_out = Vec::new();
    for setting in &settings {
        let is_left_out = LEFT_OUT.iter().any(|group| setting.key.starts_with(group));
        if let Some(range) = setting.range() {
            let list = if is_left_out { &mut left_out } else { &mut ranges };
            list.push((setting.key.clone(), range));
        }
    }
    for text in also {
        let (key, range) = given(text)?;
        find(&settings, &key)?;
        ranges.retain(|(known, _)| *known != key);
        ranges.push((key, range));
    }
    for key in only {
        find(&settings, key)?;
        let of_key =
            |list: &[(String, Range)]| list.iter().find(|(known, _)| known == key).map(|own| own.1);
        if of_key(&ranges).is_none() {
            refuse(key, of_key(&left_out))?;
        }
    }
    ranges.retain(|(key, _)| only.is_empty() || only.contains(key));
    ranges.into_iter().map(|(name, range)| key(&settings, name, range)).collect()
}

/// Says why a key is not fitted. `range` is that of a key whose group is left out.
fn refuse(key: &str, range: Option<Range>) -> anyhow::Result<()> {
    match range {
        Some(Range { low, high, .. }) => bail!(
            "--only {key}: no count of an event depends on it, so it is not fitted; fit it all the same with --also {key}={low}..{high}"
        ),
        None => bail!("--only {key}: its source has no range; give one with --also {key}=A..B"),
    }
}

/// Reads `KEY=A..B`.
fn given(text: &str) -> anyhow::Result<(String, Range)> {
    let parts = text.split_once('=').and_then(|(key, range)| Some((key, range.split_once("..")?)));
    let range = parts.and_then(|(key, (low, high))| {
        let number = |text: &str| text.trim().replace('_', "").parse::<i64>().ok();
        Some((key.trim().to_owned(), number(low)?, number(high)?))
    });
    match range {
        Some((key, low, high))
            if high.checked_sub(low).is_some_and(|width| (1..1 << 20).contains(&width)) =>
        {
            Ok((key, Range { low, high, steps: Steps::Ones }))
        }
        _ => bail!(
            "--also {text}: give a key and a range of whole numbers, such as memory.dram.access-cycles=200..400"
        ),
    }
}

fn find<'a>(settings: &'a [Setting], key: &str) -> anyhow::Result<&'a Setting> {
    let found = settings.iter().find(|setting| setting.key == key);
    found.with_context(|| format!("there is no key {key}; `n2sim list config` lists them"))
}

fn key(settings: &[Setting], name: String, range: Range) -> anyhow::Result<Key> {
    let value = &find(settings, &name)?.value;
    let number = value.parse::<i64>();
    let number = number
        .map_err(|_| anyhow::anyhow!("{name} is {value}, and only whole numbers are fitted"))?;
    let start = range.position(number).with_context(|| {
        let Range { low, high, .. } = range;
        format!(
            "{name} is {number}, which is not among the values to fit, {low} to {high}; give a range with \
             --also {name}=A..B"
        )
    })?;
    Ok(Key { name, range, start })
}
