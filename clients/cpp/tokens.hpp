// Where the token of a bot is kept: whoever has it is the bot, and may come back to its match.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>

namespace quintain {

inline std::string setting(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

/// The token of a name on a host, and its file: the same each time, and readable for nobody else.
inline std::pair<std::string, std::string> remembered(std::string key) {
  std::replace(key.begin(), key.end(), '/', '_');
  const std::filesystem::path states = setting("XDG_STATE_HOME", setting("HOME", ".") + "/.local/state");
  const std::string file = states / "quintain-bot" / key;
  std::filesystem::create_directories(states / "quintain-bot");
  if (const int kept = open(file.c_str(), O_WRONLY | O_CREAT, 0600); kept >= 0) {
    if (std::filesystem::is_empty(file))
      for (int n = 0; n < 16; n++) dprintf(kept, "%02x", std::random_device{}() % 256);
    close(kept);
  }
  std::string token;
  std::getline(std::ifstream(file), token);
  return {token.substr(0, token.find_last_not_of(" \r") + 1), file};  // as an editor has ended the line
}

}  // namespace quintain
