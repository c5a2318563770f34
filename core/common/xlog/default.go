package xlog

import (
	"context"
	"log" //nolint:depguard // SetDefault gives back the standard logger's writer that slog.SetDefault took
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/common/xlog/internal/masking"
)

var (
	current    atomic.Pointer[Engine]
	inContexts atomic.Bool // set by the first NewContext: before that no context is searched
	maskMu     sync.Mutex
	mask       = masking.New() // of every engine: with what AddMaskedKeys was given
)

// Default returns the default engine. Before SetDefault that is one which writes to
// standard output at the level and in the form of the environment, and no files; it is
// made at the first line.
func Default() *Engine {
	if e := current.Load(); e != nil {
		return e
	}
	return lazyDefault()
}

func lazyDefault() *Engine {
	c, _ := ConfigFromEnv() // a wrong variable is reported by the start, and has its default here
	c.Dir = ""
	e, _ := New(c) // which accepts whatever ConfigFromEnv returns
	current.CompareAndSwap(nil, e)
	return Default() // another goroutine may have been first
}

// SetDefault makes e the engine of all loggers that are not bound to one, and of
// slog.Default (and with it of the standard log package). The function that it returns
// puts back what was there before.
func SetDefault(e *Engine) (restore func()) {
	engine, logger := current.Swap(e), slog.Default()
	writer, flags := log.Writer(), log.Flags()
	slog.SetDefault(slog.New(&handler{}))
	return func() {
		current.Store(engine)
		slog.SetDefault(logger)
		log.SetOutput(writer)
		log.SetFlags(flags)
	}
}

// AddMaskedKeys masks the values of further keys in the lines of the default engine, and
// of every engine that is made later. A key counts whatever its case and separators,
// whole or as the last word of a longer one: "pin" also masks "card_pin" and "cardPin".
func AddMaskedKeys(keys ...string) {
	maskMu.Lock()
	defer maskMu.Unlock()
	mask = mask.With(keys)
	if e := current.Load(); e != nil {
		e.mask.Store(e.mask.Load().With(keys))
	}
}

// maskWith returns the set of a new engine that masks these keys too.
func maskWith(keys []string) *masking.Set {
	maskMu.Lock()
	defer maskMu.Unlock()
	return mask.With(keys)
}

// engineKey finds the engine in a context.
type engineKey struct{}

// NewContext returns a context whose lines go to e, through whichever logger: tests that
// run in parallel capture their own lines with it. A nil ctx is context.Background().
func NewContext(ctx context.Context, e *Engine) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	inContexts.Store(true)
	return context.WithValue(ctx, engineKey{}, e)
}

// contextEngine returns the engine that ctx carries, or nil.
func contextEngine(ctx context.Context) *Engine {
	if !inContexts.Load() || ctx == nil {
		return nil
	}
	e, _ := ctx.Value(engineKey{}).(*Engine)
	return e
}
