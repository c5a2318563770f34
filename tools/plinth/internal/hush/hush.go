// Package hush keeps from standard output what does not belong into the result of a
// command: the log of the base, and passwords.
package hush

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// word finds a piece of a text that may be a value: between spaces, or in quotes.
var word = regexp.MustCompile(`(?:='[^']*'|"[^"]*"|\S)+`)

// Mask returns a text without the credentials of the values in it, such as
// postgres://user:password@host.
func Mask(text string) string { return word.ReplaceAllStringFunc(text, xenv.Redact) }

// warn is the level of the lines that are kept, as they spell it.
const warn = "warn"

// Context returns a context whose log lines go nowhere, except that each one at WARN is
// given to keep: its message, and the error that it names. Errors are returned by whoever
// logs them. keep may be called from any goroutine.
func Context(ctx context.Context, keep func(line string)) context.Context {
	engine, err := xlog.New(xlog.Config{
		Writer: writer(keep), Format: xlog.FormatJSON,
		Level: slog.LevelWarn,
	})
	if err != nil {
		panic(err) // nothing in the configuration can be wrong
	}
	return xlog.NewContext(ctx, engine)
}

// writer takes one Write for each line.
type writer func(line string)

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	var line struct{ Level, Msg, Error string }
	if json.Unmarshal(bytes.TrimSpace(p), &line) == nil && line.Level == warn {
		if line.Error != "" {
			line.Msg += ": " + line.Error
		}
		w(line.Msg)
	}
	return len(p), nil
}
