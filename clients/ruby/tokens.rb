# frozen_string_literal: true

# Where the token of a bot is kept: whoever has it is the bot, and may come back to its match.

require "fileutils"
require "securerandom"

module Quintain
  module Tokens
    # The token of a name on a host, and its file: the same each time, and readable for nobody else.
    def self.remembered(key)
      states = [ENV.fetch("XDG_STATE_HOME", ""), File.join(ENV["HOME"] || (Dir.home rescue "."), ".local", "state")].find { |folder| !folder.empty? }
      place = File.join(states, "quintain-bot", key.tr("/", "_"))
      FileUtils.mkdir_p(File.dirname(place), mode: 0o700)
      File.write(place, SecureRandom.hex(16), perm: 0o600) unless File.size?(place)
      [File.read(place).strip, place]
    rescue SystemCallError => e
      raise Unwelcome, "the token cannot be kept in #{place}: #{e.message}"
    end
  end
end
