//! `perf stat --control`: another program starts and ends counting, and waits for an answer to each
//! command.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::host::signals::Keeper;

/// The answer of perf to a command, with the zero byte that it sends too.
const ANSWER: &[u8] = b"ack\n\0";
/// The time between two checks for a signal while no command arrives.
const PATIENCE: Duration = Duration::from_millis(10);
/// Maximum length of a command in bytes.
const COMMAND_BYTES: usize = 64;

/// The source of commands, and the destination of answers.
#[derive(Debug)]
pub(super) struct Control {
    commands: Receiver<Vec<u8>>,
    answers: Option<File>,
    keeper: Keeper,
}

impl Control {
    /// Opens `fd:CONTROL[,ACK]` or `fifo:CONTROL[,ACK]`.
    pub(super) fn open(text: &str) -> anyhow::Result<Control> {
        let usage = || format!("--control {text}: give fd:CONTROL[,ACK] or fifo:CONTROL[,ACK]");
        let (kind, places) = text.split_once(':').with_context(usage)?;
        let path = |place: &str| match kind {
            // Opened again: the file descriptors stay with the caller.
            "fd" => place.parse::<u32>().ok().map(|fd| format!("/proc/self/fd/{fd}")),
            "fifo" if !place.is_empty() => Some(place.to_owned()),
            _ => None,
        };
        let (control, answer) = match places.split_once(',') {
            Some((control, answer)) => (control, Some(answer)),
            None => (places, None),
        };
        let control = path(control).with_context(usage)?;
        let answers = match answer {
            Some(answer) => {
                let path = path(answer).with_context(usage)?;
                let open = File::options().write(true).open(&path);
                Some(open.with_context(|| format!("--control {text}: cannot write to {path}"))?)
            }
            None => None,
        };
        // The second signal ends the program at once.
        let keeper = Keeper::for_first();
        let source = File::open(&control)
            .with_context(|| format!("--control {text}: cannot read from {control}"))?;
        Ok(Control { commands: read_commands(source), answers, keeper })
    }

    /// Executes commands until counting ends: at `stop`, at a signal, when no command can arrive
    /// any more, or some time after it was switched on. Returns whether counting was on at any
    /// time.
    pub(super) fn obey(mut self, is_on: bool, time: Option<Duration>) -> anyhow::Result<bool> {
        let mut was_on = is_on;
        let mut since = is_on.then(Instant::now);
        loop {
            let is_over = since.zip(time).is_some_and(|(since, time)| since.elapsed() >= time);
            if self.keeper.is_stopped() || is_over {
                return Ok(was_on);
            }
            let command = match self.commands.recv_timeout(PATIENCE) {
                Ok(command) => command,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(was_on),
            };
            for command in command.split(|byte| matches!(byte, b'\n' | 0)) {
                match command.trim_ascii() {
                    b"enable" => {
                        was_on = true;
                        since.get_or_insert_with(Instant::now);
                    }
                    b"stop" => {
                        self.answer()?;
                        return Ok(was_on);
                    }
                    // Counting is not switched here: the counts of a trace are those of its run.
                    b"disable" | b"ping" | b"snapshot" => {}
                    _ => continue,
                }
                self.answer()?;
            }
        }
    }

    fn answer(&mut self) -> anyhow::Result<()> {
        if let Some(answers) = &mut self.answers {
            answers.write_all(ANSWER).context("cannot answer a command of --control")?;
        }
        Ok(())
    }
}

/// Reads commands on a thread of its own, because a read cannot be interrupted.
fn read_commands(mut source: File) -> Receiver<Vec<u8>> {
    let (sender, commands) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; COMMAND_BYTES];
        while let Ok(count @ 1..) = source.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    commands
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek;
    use std::os::fd::AsRawFd;

    /// Returns a control whose commands and answers are files.
    fn control(commands: &str) -> (Control, File) {
        let directory = tempfile::tempdir().expect("a directory");
        let (control, answer) = (directory.path().join("control"), directory.path().join("answer"));
        std::fs::write(&control, commands).expect("room");
        File::create(&answer).expect("room");
        let text = format!("fifo:{},{}", control.display(), answer.display());
        let opened = Control::open(&text).expect("both exist");
        (opened, File::open(&answer).expect("it exists"))
    }

    #[test]
    fn every_command_is_answered() {
        for (commands, was_on, answers) in [
            ("enable", true, 1),
            ("ping\nenable\ndisable\n", true, 3),
            ("ping\n", false, 1),
            ("stop\nenable\n", false, 1),
            ("what\n", false, 0),
            ("", false, 0),
        ] {
            let (control, mut answer) = control(commands);
            assert_eq!(
                control.obey(false, None).expect("answers can be written"),
                was_on,
                "{commands}"
            );
            let mut text = Vec::new();
            answer.rewind().expect("a file");
            answer.read_to_end(&mut text).expect("a file");
            assert_eq!(text, ANSWER.repeat(answers), "{commands}");
        }
    }

    #[test]
    fn a_time_ends_counting_without_a_command() {
        // The writer stays, so that another command could still arrive.
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(b"enable\n").expect("room in the pipe");
        let control = Control::open(&format!("fd:{}", reader.as_raw_fd())).expect("it is open");
        assert!(control.obey(false, Some(Duration::from_millis(1))).expect("no answers"));
    }

    #[test]
    fn places_that_are_none_are_refused() {
        for text in ["", "fd", "fd:", "fd:x", "fifo:", "pipe:3", "fd:1,", "fd:4000000000"] {
            let message = Control::open(text).expect_err(text).to_string();
            assert!(message.starts_with(&format!("--control {text}: ")), "{message}");
        }
    }
}
