// Play on a Quintain host: the house protocol over TCP, with nothing but C++17 and POSIX.
//
//     quintain::Bot{"connect-4", [](const quintain::Json& turn, const std::string& you) { return "3"; }}.play();
//
// The function is given the host's message and the bot's seat ("first" or "second", in Tic-Tac-Toe "O" or "X"). It
// returns a move in its short form: "3", "SE", "e3h", "1 2 3" or "0,0 0,1". After a lost connection, or if it is
// started again within half a minute, the bot goes on with its match.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

#include "json.hpp"
#include "tokens.hpp"

#ifndef TCP_KEEPIDLE
#define TCP_KEEPIDLE TCP_KEEPALIVE  // as macOS calls it
#endif

namespace quintain {

struct Bot {
  std::string game;
  std::function<std::string(const Json& turn, const std::string& you)> choose;
  bool quiet = false;
  std::string name = setting("QUINTAIN_NAME", "cpp-bot"), url = setting("QUINTAIN_URL", "tcp://127.0.0.1:8000");
  Json tournament = {};    // where it comes back to
  bool is_inside = false;  // on this connection
  std::time_t lost = 0;    // when it was inside last

  /// Plays until the tournament is over; what it throws says why it cannot.
  void play() {
    const std::string address = url.rfind("tcp://", 0) == 0 ? url.substr(6, url.find('/', 6) - 6) : "";
    const auto colon = std::min(address.find(':', address.rfind(']') + 1), address.size());
    std::string host = address.substr(0, colon);
    if (host[0] == '[') host = host.substr(1, host.size() - 2);  // an IPv6 address
    const auto [token, file] = remembered(host + "-" + game + "-" + name);
    say("the token is kept in " + file);
    for (int wait = 125;;) {
      const std::string why = visit(host, colon < address.size() ? address.substr(colon + 1) : "8000", token);
      if (why.empty()) return;
      wait = is_inside ? 250 : std::min(2 * wait, 15'000);  // milliseconds
      if (is_inside) lost = std::time(nullptr);
      const auto has = [&](const char* words) { return why.find(words) != std::string::npos; };
      const bool is_useless = has("has taken over") || has("ask its organiser") || std::time(nullptr) - lost > 120;
      if (is_useless && !has("come again later") && !has("wait for a minute"))
        throw std::runtime_error("cannot play on " + url + ": " + why);
      say("the connection is lost (" + why + "): trying again");
      usleep(1000 * (wait / 2 + std::random_device{}() % (wait / 2)));
    }
  }

  /// Plays from the hello to the standings, and returns nothing; or returns why the connection ended before.
  std::string visit(const std::string& host, const std::string& port, const std::string& token) {
    is_inside = false;
    const bool is_port = port.find_first_not_of("0123456789") == port.npos && std::atol(port.c_str()) < 65'536;
    if (host.empty() || !is_port) return "expected an address like tcp://127.0.0.1:8000";
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found)) return gai_strerror(error);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
    std::unique_ptr<FILE, int (*)(FILE*)> in(nullptr, fclose);
    do in.reset(fdopen(socket(found->ai_family, SOCK_STREAM, 0), "r"));
    while (connect(fileno(in.get()), found->ai_addr, found->ai_addrlen) && (found = found->ai_next));
    if (!found) return std::strerror(errno);
    const auto set = [on = fileno(in.get())](int level, int option, auto value) { setsockopt(on, level, option, &value, sizeof value); };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);  // a host that is no more is noticed after 40 seconds of silence
    set(IPPROTO_TCP, TCP_KEEPIDLE, 20), set(IPPROTO_TCP, TCP_KEEPINTVL, 5), set(IPPROTO_TCP, TCP_KEEPCNT, 4);
    set(SOL_SOCKET, SO_RCVTIMEO, timeval{15, 0});  // for the host to say welcome
    const auto send = [&](const std::string& message) {
      const std::string line = message + "\n";
      ::send(fileno(in.get()), line.data(), line.size(), MSG_NOSIGNAL);
    };
    std::ostringstream quoted;  // a name may have quotation marks of its own
    quoted << std::quoted(name);
    send(R"({"type":"hello","name":)" + quoted.str() + R"(,"game":")" + game + R"(","token":")" + token +
         R"(","tournament":)" + tournament.text + "}");
    std::string you, answered, reason = "the host hung up", place = "this bot is not in its standings";
    static char* line;  // which `getline` uses again and again
    for (static std::size_t size; getline(&line, &size, in.get()) > 0;) {
      const Json told{line};
      reason = "the host hung up";  // it may do so next, or say why it does
      const std::string type = told["type"].string(), match = told["match"].string(), ply = told["ply"].text;
      if (type == "welcome") {
        is_inside = true;
        set(SOL_SOCKET, SO_RCVTIMEO, timeval{});  // it may be long until the first match
        tournament = told["tournament"];
        say(name + " is connected to " + url + ": " + (tournament.text == "null" ? "the open table" : tournament.string()));
      } else if (type == "begin") {
        you = told["you"].string();
        const auto players = told["players"].members();
        const std::string against = players[0].second.string() + " against " + players[1].second.string();
        say(match + " from ply " + std::to_string(told["moves"].members().size()) + ": " + against);
      } else if (type == "turn" && told["turn"].string() == you && answered != match + ply) {
        answered = match + ply;
        std::string move = choose(told, you);
        std::size_t end = std::min<std::size_t>(move.size(), 300);  // no move is as long; nor is half a letter sent
        while (end > 0 && end < move.size() && (move[end] & 0xC0) == 0x80) end--;
        move.resize(end);
        if (move.size() != 1 || move[0] < '0' || move[0] > '9') move = '"' + move + '"';  // Connect-4's are numbers
        send(R"({"type":"move","match":")" + match + R"(","ply":)" + ply + R"(,"move":)" + move + "}");
      } else if (type == "refused") {
        if (!is_inside || ply == "null") reason = told["reason"].string();
        if (!is_inside) break;
        if (ply != "null" || !answered.empty()) say("refused: " + told["reason"].string());
        if (answered == match + ply) send(R"({"type":"state"})");  // asks again, unless this has lost the match
        if (answered == match + ply) answered.clear();
      } else if (type == "end") {
        const std::string winner = told["winner"].string();
        const char* result = winner == "null" ? "void" : winner == "draw" ? "drawn" : winner == you ? "won" : "lost";
        say(match + ": " + result + " (" + told["why"].string() + ")");
      } else if (type == "standings") {
        const auto rows = told["rows"].members();
        for (const auto& [_, row] : rows)
          if (row["name"].string() == name)
            place = "rank " + row["rank"].text + " of " + std::to_string(rows.size()) + ", " + row["points"].text + " points";
        say(tournament.string() + " is over" + (told["frozen"].text == "true" ? " (its standings are frozen): " : ": ") + place);
        send(R"({"type":"bye"})");
        return "";
      }
    }
    return std::ferror(in.get()) && errno == EAGAIN ? "the host does not answer" : reason;
  }

  void say(const std::string& line) const { if (!quiet) std::cout << line << std::endl; }
};

}  // namespace quintain
