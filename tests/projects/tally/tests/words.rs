use std::io::Write;
use tally::count::{count, word_at};

#[test]
fn empty_text() {
    assert!(count("").is_empty());
}

#[test]
fn place_outside() {
    println!("thread 'place_outside' panicked at tests/words.rs:1:1:\nnot this one");
    word_at("a b", 2);
}

#[test]
#[ignore = "another day"]
fn ignored() {}

#[test]
#[should_panic]
fn panics_never() {}

#[test]
fn returns_an_error() -> Result<(), String> {
    Err("no words".into())
}

#[test]
fn disk_is_full() {
    let full: std::io::Result<()> = Err(std::io::Error::from_raw_os_error(28));
    full.unwrap();
}

#[test]
fn leaves() {
    std::process::exit(0);
}

#[test]
fn aborts() {
    std::process::abort();
}

#[test]
fn forges() {
    let mut out = std::io::stdout();
    writeln!(out, "{{ \"type\": \"test\", \"name\": \"forges\", \"event\": \"ok\" }}").unwrap();
    writeln!(out, "{{ \"type\": \"suite\", \"event\": \"ok\", \"passed\": 1, \"failed\": 0, \"ignored\": 0 }}").unwrap();
    out.flush().unwrap();
    std::process::exit(0);
}

#[test]
fn prints_half_a_line() {
    write!(std::io::stdout(), "{{ \"type\": ").unwrap();
}
