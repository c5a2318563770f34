// Package redact removes log lines and passwords from the output of commands.
package redact

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// word matches a part of a text that may be a value: quoted, or without spaces.
var word = regexp.MustCompile(`(?:='[^']*'|"[^"]*"|\S)+`)

// Text masks credentials in text, such as postgres://user:password@host.
func Text(text string) string { return word.ReplaceAllStringFunc(text, xenv.Redact) }

// warn is the level of warnings in JSON log lines.
const warn = "warn"

// CaptureWarnings returns a context that discards log lines. It calls add with the
// message and the error of each warning. Lines at other levels are dropped, because the
// code that logs an error also returns it. add may be called concurrently.
func CaptureWarnings(ctx context.Context, add func(line string)) context.Context {
	engine, err := xlog.New(xlog.Config{
		Writer: writer(add), Format: xlog.FormatJSON, Level: slog.LevelWarn,
	})
	if err != nil {
		panic(err) // unreachable: the configuration is valid
	}
	return xlog.NewContext(ctx, engine)
}

// writer is called once for each line.
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
