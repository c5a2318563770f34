package xlog

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog/internal/masking"
	"github.com/plinthgo/plinth/core/common/xlog/internal/rotate"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Engine turns calls into lines and writes them: each line once to the console, as its
// Format says, and, where there is a Dir, once to a file, as JSON. A line is encoded
// outside any lock and written in one Write.
type Engine struct {
	level slog.LevelVar
	zero  zerolog.Logger // encodes; its writer is sink
	sink  *sink
	mask  atomic.Pointer[masking.Set]
	clock func() time.Time

	realClock bool // clock is time.Now
}

// New returns an engine. An error names every problem of the configuration.
//
// A folder that cannot be made, written or locked, as on a read-only file system, is no
// error: the engine says so in one line and writes to the console only.
func New(c Config) (*Engine, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	realClock := c.Clock == nil
	if realClock {
		c.Clock = time.Now
	}
	e := &Engine{sink: newSink(c), clock: c.Clock, realClock: realClock}
	e.level.Set(c.Level)
	e.mask.Store(maskWith(c.MaskKeys))
	e.zero = zerolog.New(e.sink)
	if c.Dir == "" {
		return e, nil
	}
	file, err := rotate.Open(c.file(), c.Clock())
	if err != nil {
		e.sink.warn(err)
		return e, nil
	}
	e.sink.file.Store(file)
	if !file.First {
		e.WithName(namedLOGS).Notice(context.Background(),
			"another process writes the log file, lines go to one beside it",
			slog.String("file", file.Filename))
	}
	return e, nil
}

// Enabled reports whether lines of this level are written.
func (e *Engine) Enabled(level slog.Level) bool { return level >= e.level.Level() }

// SetLevel changes the lowest level that is written, at once and for every goroutine.
func (e *Engine) SetLevel(level slog.Level) { e.level.Set(level) }

// WithName returns a logger that writes to this engine, whatever the default one is.
func (e *Engine) WithName(name string, options ...string) *LogNamedLogger {
	return newLogger(e, name, options)
}

// Handler returns a slog.Handler that writes to this engine.
func (e *Engine) Handler() slog.Handler { return &handler{LogNamedLogger: e.WithName("")} }

// Close writes out and closes the log file, and waits for a compression that is under
// way. For lines that wait for an output which blocks, it waits for a second at most.
// Lines that are logged later go to the console only. A second call does nothing.
// Config.Writer stays open.
func (e *Engine) Close() error { return e.sink.close() }

// emit writes one line of this moment.
func (e *Engine) emit(ctx context.Context, level slog.Level, name, msg string, attrs []slog.Attr) {
	ln := e.line()
	ln.begin(xctx.RequestID(ctx), e.clock(), level, name, msg)
	ln.addAll(attrs)
	ln.event.Send()
}

// line returns an empty line.
func (e *Engine) line() line {
	return line{event: e.zero.Log(), mask: e.mask.Load()} //nolint:zerologlint // whoever asks for it sends it
}
