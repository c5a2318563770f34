// Package hush keeps from standard output what does not belong into the result of a command: the log of the base, and passwords.
package hush

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"regexp"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
)

// password finds one in an address, up to the last @ of the word: one that is not escaped may hold any sign, so that a path with
// an @ behind a port is taken for one too.
var password = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s:@/?#]*):\S*@`)

// Mask returns a text without the passwords of the addresses in it, such as postgres://user:password@host.
func Mask(text string) string { return password.ReplaceAllString(text, "$1:***@") }

// warn is the level of the lines that are kept, as they spell it.
const warn = "warn"

// Context returns a context whose log lines go nowhere, except that each one at WARN is given to keep: its message, and the
// error that it names. Errors are returned by whoever logs them. keep may be called from any goroutine.
func Context(ctx context.Context, keep func(line string)) (context.Context, error) {
	engine, err := xLog.New(xLog.Config{Writer: writer(keep), Format: xLog.FormatJSON, Level: slog.LevelWarn})
	if err != nil {
		return nil, err
	}
	return xLog.NewContext(ctx, engine), nil
}

// writer takes one Write for each line.
type writer func(line string)

var _ io.Writer = writer(nil)

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
