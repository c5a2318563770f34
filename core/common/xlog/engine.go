package xlog

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog/internal/masking"
	"github.com/plinthgo/plinth/core/common/xlog/internal/rotate"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Engine turns calls into lines and writes them: each line once to the console, as its Format says,
// and, where there is a Dir, once to a file, as JSON. A line is encoded outside any lock and written in
// one Write.
type Engine struct {
	level slog.LevelVar
	zero  zerolog.Logger // encodes; its writer is sink
	sink  *sink
	mask  atomic.Pointer[maskSet]
	clock func() time.Time

	realClock bool // clock is time.Now
}

// New returns an engine. An error names every problem of the configuration.
//
// A folder that cannot be made, written or locked, as on a read-only file system, is no error: the engine
// says so in one line and writes to the console only.
func New(c Config) (*Engine, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	e := &Engine{sink: newSink(c), clock: c.Clock}
	if e.clock == nil {
		e.clock, e.realClock = time.Now, true
	}
	e.level.Set(c.Level)
	e.mask.Store(masking.New(slices.Concat(addedMaskKeys(), c.MaskKeys)))
	e.zero = zerolog.New(e.sink)
	e.sink.warn, e.sink.lost = e.warnFile, e.lostLines
	if c.Dir == "" {
		return e, nil
	}
	file, err := rotate.Open(rotate.Options{
		Dir: c.Dir, FileName: c.FileName, MaxSizeMB: c.MaxSizeMB, MaxAgeDays: c.MaxAgeDays, MaxBackups: c.MaxBackups, Compress: c.Compress,
	}, e.clock())
	if err != nil {
		e.warnFile(err)
		return e, nil
	}
	e.sink.file.Store(file)
	if !file.First && e.Enabled(LevelNotice) {
		ln := e.line()
		ln.begin("", e.clock(), LevelNotice, encodeName(NamedLOGS), "another process writes the log file, lines go to one beside it")
		ln.event.Str("file", file.Filename)
		ln.event.Send()
	}
	return e, nil
}

// warnFile says on the console that lines do not reach the file. The level does not matter for that.
func (e *Engine) warnFile(err error) {
	zero := zerolog.New(consoleOnly{e.sink})
	ln := line{event: zero.Log()} //nolint:zerologlint // sent below
	ln.begin("", e.clock(), slog.LevelWarn, encodeName(NamedLOGS), "log file cannot be written, lines go to the console only")
	ln.event.Str("error", err.Error())
	ln.event.Send()
}

// lostLines returns the line that reports how many lines the console has not got.
func (e *Engine) lostLines(n int64) []byte {
	var b bytes.Buffer
	zero := zerolog.New(&b)
	ln := line{event: zero.Log()} //nolint:zerologlint // sent below
	ln.begin("", e.clock(), slog.LevelWarn, encodeName(NamedLOGS), "log lines dropped, the output was blocked")
	ln.event.Int64("count", n)
	ln.event.Send()
	return b.Bytes()
}

// Enabled reports whether lines of this level are written.
func (e *Engine) Enabled(level slog.Level) bool { return level >= e.level.Level() }

// Level returns the lowest level that is written.
func (e *Engine) Level() slog.Level { return e.level.Level() }

// SetLevel changes the lowest level that is written, at once and for every goroutine.
func (e *Engine) SetLevel(level slog.Level) { e.level.Set(level) }

// WithName returns a logger that writes to this engine, whatever the default one is.
func (e *Engine) WithName(name string, options ...string) *LogNamedLogger {
	return newLogger(e, name, options)
}

// Handler returns a slog.Handler that writes to this engine.
func (e *Engine) Handler() slog.Handler { return &handler{engine: e} }

// AddMaskedKeys masks the values of further keys in the lines of this engine; see the package function.
func (e *Engine) AddMaskedKeys(keys ...string) {
	for {
		old := e.mask.Load()
		if e.mask.CompareAndSwap(old, old.With(keys)) {
			return
		}
	}
}

// Sync hands what was written to the file to the disk.
func (e *Engine) Sync() error { return e.sink.sync() }

// Close writes out and closes the log file, and waits for a compression that is under way. For lines
// that wait for an output which blocks, it waits for a second at most. Lines that
// are logged later go to the console only. A second call does nothing. Config.Writer stays open.
func (e *Engine) Close() error { return e.sink.close() }

// emit writes one line of this moment.
func (e *Engine) emit(ctx context.Context, level slog.Level, name, msg string, attrs []slog.Attr) {
	ln := e.line()
	ln.begin(requestID(ctx), e.clock(), level, name, msg)
	for i := range attrs {
		ln.add(&attrs[i])
	}
	ln.event.Send()
}

// line returns an empty line.
func (e *Engine) line() line {
	return line{event: e.zero.Log(), mask: e.mask.Load()} //nolint:zerologlint // whoever asks for it sends it
}

// requestID returns the id of the request that ctx belongs to, or "".
func requestID(ctx context.Context) string {
	r, isRequest := ctx.(*xctx.Request)
	switch {
	case isRequest && r != nil && r.ID() != "":
		return r.ID()
	case !usable(ctx):
		return ""
	case !isRequest:
		if r = xctx.RequestFrom(ctx); r != nil && r.ID() != "" {
			return r.ID()
		}
	}
	id, _ := ctx.Value(xctx.RequestKey).(string)
	return id
}

// usable reports whether ctx can be asked: it is not nil, nor a nil request.
func usable(ctx context.Context) bool {
	switch c := ctx.(type) {
	case nil:
		return false
	case *xctx.Request:
		return c != nil
	}
	return true
}
