/// The words of a text, each with how often it occurs.
pub fn count(text: &str) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for word in text.split_whitespace() {
        match found.iter_mut().find(|(known, _)| known == word) {
            Some((_, times)) => *times += 1,
            None => found.push((word.to_string(), 1)),
        }
    }
    found
}

/// The word at a place; panics outside.
pub fn word_at(text: &str, place: usize) -> &str {
    let words: Vec<&str> = text.split(' ').collect();
    words[place]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_words() {
        assert_eq!(count("a b a"), vec![("a".to_string(), 2), ("b".to_string(), 1)]);
    }

    #[test]
    fn claims_too_much() {
        assert_eq!(count("a").len(), 2, "two of {}", "them");
    }
}
