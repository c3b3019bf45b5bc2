// Where the token of a bot is kept: whoever has it is the bot, and may come back to its match.
package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// remembered is the token of a name on a host: the same each time, and readable for nobody else.
func remembered(key string) (string, error) {
	states := setting("XDG_STATE_HOME", filepath.Join(os.Getenv("HOME"), ".local", "state"))
	file := filepath.Join(states, "quintain-bot", strings.ReplaceAll(key, "/", "_"))
	kept, err := os.ReadFile(file)
	if len(kept) == 0 && (err == nil || errors.Is(err, os.ErrNotExist)) {
		random := make([]byte, 16)
		rand.Read(random)
		kept = []byte(fmt.Sprintf("%x", random))
		os.MkdirAll(filepath.Dir(file), 0o700)
		err = os.WriteFile(file, kept, 0o600)
	}
	Say.Printf(map[bool]string{true: "the token is kept in %s", false: "the token cannot be kept in %s"}[err == nil], file)
	return strings.TrimSpace(string(kept)), err
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
