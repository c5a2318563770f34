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

// Engine encodes lines and writes them to the console in Config.Format and, if Config.Dir
// is set, to a file as JSON. It encodes a line without a lock and writes it in one Write.
type Engine struct {
	level slog.LevelVar
	zero  zerolog.Logger // encodes lines and writes them to sink
	sink  *sink
	mask  atomic.Pointer[masking.Set]
	clock func() time.Time

	realClock bool // clock is time.Now
}

// New returns an engine. The error reports every problem of the configuration.
//
// If the directory cannot be created, written or locked, New logs a warning and the
// engine writes to the console only. An example is a read-only file system.
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
			"another process writes the log file, using the next name",
			slog.String("file", file.Filename))
	}
	return e, nil
}

// Enabled reports whether lines of this level are written.
func (e *Engine) Enabled(level slog.Level) bool { return level >= e.level.Level() }

// SetLevel changes the lowest level that is written, for all goroutines.
func (e *Engine) SetLevel(level slog.Level) { e.level.Set(level) }

// WithName returns a logger that writes to this engine instead of the default engine.
func (e *Engine) WithName(name string, options ...string) *LogNamedLogger {
	return newLogger(e, name, options)
}

// Handler returns a slog.Handler that writes to this engine.
func (e *Engine) Handler() slog.Handler { return &handler{LogNamedLogger: e.WithName("")} }

// Close flushes and closes the log file and waits for a running compression. It waits for
// at most one second for lines queued for a blocked output. Lines logged after Close go
// to the console only. A second call does nothing. Close does not close Config.Writer.
func (e *Engine) Close() error { return e.sink.close() }

func (e *Engine) emit(ctx context.Context, level slog.Level, name, msg string, attrs []slog.Attr) {
	ln := e.line()
	ln.addHead(xctx.RequestID(ctx), e.clock(), level, name, msg)
	ln.addAll(attrs)
	ln.event.Send()
}

func (e *Engine) line() line {
	event := e.zero.Log() //nolint:zerologlint // the caller sends the event
	return line{event: event, mask: e.mask.Load()}
}
