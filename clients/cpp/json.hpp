// As much of JSON as a bot needs to read what a Quintain host says.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quintain {

/// A JSON value as the host wrote it, which is read no further than somebody asks; "null" where there is none.
struct Json {
  std::string text = "null";

  Json operator[](const std::string& name) const {
    for (const auto& [key, value] : members()) if (key == name) return value;
    return {};
  }
  int number() const { return std::stoi(text); }
  std::string string() const {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); at++)
      if (text[at] != '"') plain += text[at] == '\\' ? text[++at] : text[at];
    return plain;
  }
  /// The members of an object with their names, or of an array without.
  std::vector<std::pair<std::string, Json>> members() const {
    std::vector<std::pair<std::string, Json>> found;
    std::string name, value;
    bool is_quoted = false, is_escaped = false;
    int depth = 0;
    for (const char letter : text) {
      if (!is_quoted && (letter == ']' || letter == '}')) depth--;
      if (!is_quoted && (depth == 0 || (depth == 1 && letter == ','))) {
        if (!value.empty()) found.push_back({std::exchange(name, ""), Json{std::exchange(value, "")}});
      } else if (!is_quoted && depth == 1 && letter == ':') {
        name = Json{std::exchange(value, "")}.string();
      } else {
        value += letter;
      }
      if (!is_quoted && (letter == '[' || letter == '{')) depth++;
      if (letter == '"' && !is_escaped) is_quoted = !is_quoted;
      is_escaped = letter == '\\' && !is_escaped;
    }
    return found;
  }
};

}  // namespace quintain
