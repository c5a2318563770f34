// Package hush keeps the log of the base from standard output, where the result of a command stands.
package hush

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
)

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
