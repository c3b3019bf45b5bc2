//! As much of JSON as a bot needs to read what a Quintain host says.

/// A value as the host wrote it, which is read no further than somebody asks; "null" where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Json<'a>(pub &'a str);

impl<'a> Json<'a> {
    pub fn get(self, name: &str) -> Json<'a> {
        let found = self.members().into_iter().find(|(key, _)| *key == name);
        found.map_or(Json("null"), |(_, value)| value)
    }

    pub fn items(self) -> Vec<Json<'a>> {
        self.members().into_iter().map(|(_, value)| value).collect()
    }

    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub fn number(self) -> i32 {
        self.0.parse().expect("a whole number")
    }

    pub fn numbers(self) -> Vec<i32> {
        self.items().into_iter().map(Json::number).collect()
    }

    pub fn string(self) -> String {
        let inner = self.0.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let mut letters = inner.unwrap_or(self.0).chars();
        let mut plain = String::new();
        while let Some(letter) = letters.next() {
            plain.extend(if letter == '\\' { letters.next() } else { Some(letter) });
        }
        plain
    }

    /// The members of an object with their names, or of an array without.
    fn members(self) -> Vec<(&'a str, Json<'a>)> {
        let mut members = Vec::new();
        let mut rest = self.0.strip_prefix(['{', '[']).unwrap_or("");
        while rest.len() > 1 {
            let mut name = "";
            if self.0.starts_with('{') {
                let colon = value_end(rest);
                (name, rest) = (rest[..colon].trim_matches('"'), &rest[colon + 1..]);
            }
            let end = value_end(rest);
            members.push((name, Json(&rest[..end])));
            rest = &rest[end + 1..];
        }
        members
    }
}

/// Where the first value of a text ends: hosts write no blanks between values.
fn value_end(text: &str) -> usize {
    let (mut depth, mut is_quoted, mut is_escaped) = (0, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            ',' | ':' | ']' | '}' if depth == 0 => return at,
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
