//! A thrifty bot in Rust: gives away what is worth least, and takes when that brings enough.
//!
//!     arena play docs/examples/thrifty/ uniform
//!
//! It uses no crate: the arena sends valid JSON, and this bot needs only texts and numbers of it.
use std::io::{self, BufRead, Write};

const TAKE_SIZE: usize = 5;

/// Return the worth of one card in a take; a city has the highest, to deny it.
fn worth(card: char) -> i32 {
    match card {
        '2' | '3' | '4' => card as i32 - '0' as i32,
        'x' | 'y' | 'z' => 'w' as i32 - card as i32,
        'C' => 6,
        _ => 1,
    }
}

/// Return the value of a key of the message, without quotes; empty if the key is missing.
fn get<'a>(line: &'a str, key: &str) -> &'a str {
    let name = format!("\"{key}\":");
    let rest = match line.find(&name) {
        Some(at) => line[at + name.len()..].trim_start(),
        None => return "",
    };
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next().unwrap_or(""),
        None => rest.split([',', '}']).next().unwrap_or("").trim_end(),
    }
}

/// Return the action: the take if it brings two points for each card kept, else the cheapest card.
fn choose(line: &str) -> char {
    let legal = get(line, "legal");
    let row = get(line, "row").chars().rev();
    let brings: i32 = row.take(TAKE_SIZE).map(worth).sum();
    let enough = 2 * get(line, "hand").len() as i32;
    match legal.chars().filter(|&card| card != 'T').min_by_key(|&card| worth(card)) {
        Some(card) if !legal.contains('T') || brings < enough => card,
        _ => 'T',
    }
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let more = match get(&line, "type") {
            "hello" => ", \"ready\": true".to_string(),
            "choose" => format!(", \"action\": \"{}\"", choose(&line)),
            _ => String::new(), // `new`, `end`, and messages of later versions
        };
        println!("{{\"id\": {}{more}}}", get(&line, "id"));
        io::stdout().flush()?; // otherwise the answer may stay in a buffer, and the arena waits
    }
    Ok(())
}
