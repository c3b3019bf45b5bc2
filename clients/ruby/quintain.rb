# frozen_string_literal: true

# Play on a Quintain host. One file, nothing to install: Ruby 3.1 or later, over TCP.
#
#     require_relative "quintain"
#     Quintain.play("connect-4") { |turn| 3 }
#
# `play` calls the block whenever it is the bot's turn. It returns the final standings when the tournament is over; at
# an open table it plays until it is stopped. After a lost connection, or if it is started again within half a minute,
# the bot goes on with its match.
#
# The block is given the host's message as a hash ("state", "ply", "last", "clock", "match") with "you", "players" and
# "options" added. It returns a move as "last" shows it or in its short form.

require "fileutils"
require "json"
require "securerandom"
require "socket"
require "timeout"

module Quintain
  class Unwelcome < StandardError; end # the host does not want this bot, or there is none: the message says why
  class Lost < StandardError; end # a connection has ended

  FIRST_WAIT, LONGEST_WAIT = 0.25, 15.0 # seconds before coming back, doubled each time …
  GIVE_UP = 120.0 # … until there has been no host for so long
  ANSWER = 15.0 # for the host to say welcome
  LATER, OVER = /come again later|wait for a minute/, /has taken over|ask its organiser/

  def self.play(game, quiet: false, &choose)
    url = ENV.fetch("QUINTAIN_URL", "tcp://127.0.0.1:8000")
    address = url.match(%r{\Atcp://(\[.+\]|[^:/\[\]]+)(?::(\d+))?/?\z})
    raise Unwelcome, "cannot play on #{url}: expected an address like tcp://127.0.0.1:8000" unless address && address[2].to_i < 65_536
    $stdout.sync = true
    Bot.new(game, ENV.fetch("QUINTAIN_NAME", "ruby-bot"), url, [address[1].delete("[]"), address[2] || 8000], quiet, choose).play
  end

  # What a bot knows beyond one connection.
  class Bot
    def initialize(game, name, url, address, quiet, choose)
      @url, @address, @quiet, @choose = url, address, quiet, choose
      @hello = { type: "hello", protocol: 1, name: name, game: game, token: remembered("#{address[0]}-#{game}-#{name}") }
      @welcomed, @failures = false, 0
    end

    def play
      loop do
        @here, @reason = false, nil
        return visit
      rescue Lost => e
        wait(@reason || e.message)
      ensure
        @socket&.close
      end
    end

    private

    # From the hello to the standings.
    def visit
      @socket = wired { TCPSocket.new(*@address) }
      [[:TCP, :NODELAY, true], [:SOCKET, :KEEPALIVE, true]].each { |option| @socket.setsockopt(*option) }
      { KEEPIDLE: 20, KEEPINTVL: 5, KEEPCNT: 4 }.each do |name, value| # a host that is no more is noticed after 40 seconds
        @socket.setsockopt(:TCP, name, value) if Socket.const_defined?("TCP_#{name}")
      end
      send_message(@hello)
      while (line = wired { in_time { @socket.gets } })
        hear(message = wired { JSON.parse(line) })
        return message if message["type"] == "standings"
      end
      raise Lost, "the host hung up"
    end

    # Once it is welcome, nothing may come for long.
    def in_time(&hears) = Timeout.timeout(@here ? nil : ANSWER, Lost, "the host does not answer", &hears)

    # What goes wrong on the way to the host or back ends the connection; what goes wrong in `choose`, the program.
    def wired
      yield
    rescue SystemCallError, SocketError, IOError, JSON::ParserError => e
      raise Lost, e.message
    end

    def hear(message)
      @reason = nil # why the host may hang up next
      case message["type"]
      when "welcome" then enter(message)
      when "begin" then begin_match(message)
      when "turn" then answer(message) if message["turn"] == @begun["you"]
      when "refused" then refused(message)
      when "end" then say "#{message["match"]}: #{result(message["winner"])} (#{message["why"]})"
      when "standings" then leave(message)
      end
    end

    def enter(welcome)
      say "#{@hello[:name]} is connected to #{@url}: #{welcome["tournament"] || "the open table"}"
      @welcomed = @here = true
      @hello.update(name: welcome["name"], tournament: welcome["tournament"]) # where it comes back to
    end

    def begin_match(message)
      @begun, @answered, @failures = message, nil, 0
      say "#{message["match"]} from ply #{message.fetch("moves", []).size}: #{message["players"].join(" against ")}"
    end

    def answer(turn)
      question = turn.values_at("match", "ply")
      return if question == @answered
      @answered = question
      more = { "you" => @begun["you"], "players" => @begun["players"], "options" => @begun.fetch("options", {}) }
      move = @choose.call(turn.merge(more))
      text = JSON.generate(move) # of one that is no move, the host is told the beginning
      send_message(type: "move", match: turn["match"], ply: turn["ply"], move: text.bytesize > 3500 ? text[0, 300] : move)
    end

    def refused(message)
      @reason = message["reason"] unless @here && message["ply"]
      raise Lost, @reason unless @here
      say "refused: #{message["reason"]}" if message["ply"] || @answered
      return unless message.values_at("match", "ply") == @answered
      @answered = nil
      send_message(type: "state") # asks for the turn again, unless this has lost the match
    end

    def leave(standings)
      own = standings["rows"].find { |row| row["name"] == @hello[:name] }
      place = own ? "rank #{own["rank"]} of #{standings["rows"].size}, #{own["points"]} points" : "this bot is not in its standings"
      say "#{standings["tournament"]} is over#{" (its standings are frozen)" if standings["frozen"]}: #{place}"
      send_message(type: "bye")
    end

    def wait(why)
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @lost = now if @here
      useless = !@welcomed || why.match?(OVER) || now - @lost > GIVE_UP
      raise Unwelcome, "cannot play on #{@url}: #{why}" if useless && !why.match?(LATER)
      say "the connection is lost (#{why}): trying again"
      sleep([LONGEST_WAIT, FIRST_WAIT * 2**@failures].min * rand(0.5..1.0))
      @failures += 1
    end

    # The token of a name on a host: the same each time, and readable for nobody else.
    def remembered(key)
      states = [ENV.fetch("XDG_STATE_HOME", ""), File.join(ENV["HOME"] || (Dir.home rescue "."), ".local", "state")].find { |folder| !folder.empty? }
      place = File.join(states, "quintain-bot", key.tr("/", "_"))
      FileUtils.mkdir_p(File.dirname(place), mode: 0o700)
      File.write(place, SecureRandom.hex(16), perm: 0o600) unless File.size?(place)
      File.read(place).strip.tap { say "the token is kept in #{place}" }
    rescue SystemCallError => e
      raise Unwelcome, "the token cannot be kept in #{place}: #{e.message}"
    end

    def result(winner) = { nil => "void", "draw" => "drawn", @begun["you"] => "won" }.fetch(winner, "lost")
    def send_message(message) = write("#{JSON.generate(message)}\n")
    def write(line) = (@socket.write(line) rescue nil) # the connection has ended: what is read next says why
    def say(line) = @quiet || (puts(line) rescue nil) # a full disk costs no match
  end
end
