package xlog

import (
	"context"
	"log" //nolint:depguard // SetDefault restores the writer that slog.SetDefault replaced
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/common/xlog/internal/masking"
)

var (
	current        atomic.Pointer[Engine]
	contextEngines atomic.Bool // set by the first NewContext; until then contexts are not searched
	maskMu         sync.Mutex
	mask           = masking.New() // shared by all engines; AddMaskedKeys extends it
)

// Default returns the default engine. Before SetDefault, Default creates an engine that
// writes to standard output with the level and format of the environment, and writes no
// files.
func Default() *Engine {
	if e := current.Load(); e != nil {
		return e
	}
	return lazyDefault()
}

func lazyDefault() *Engine {
	c, _ := ConfigFromEnv() // startup reports an invalid variable; its default applies here
	c.Dir = ""
	e, _ := New(c) // New accepts every Config that ConfigFromEnv returns
	current.CompareAndSwap(nil, e)
	return Default() // another goroutine may have stored its engine first
}

// SetDefault makes e the engine of slog.Default, of the standard log package and of all
// loggers without their own engine. The returned function restores the previous state.
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

// AddMaskedKeys masks the values of additional keys in the lines of the default engine
// and of every engine created later. A key matches regardless of case and separators, as
// the whole key or as its last word: "pin" also masks "card_pin" and "cardPin".
func AddMaskedKeys(keys ...string) {
	maskMu.Lock()
	defer maskMu.Unlock()
	mask = mask.With(keys)
	if e := current.Load(); e != nil {
		e.mask.Store(e.mask.Load().With(keys))
	}
}

func maskWith(keys []string) *masking.Set {
	maskMu.Lock()
	defer maskMu.Unlock()
	return mask.With(keys)
}

type engineKey struct{}

// NewContext returns a context that directs lines of every logger to e. Parallel tests
// use it to capture their own lines. A nil ctx is context.Background().
func NewContext(ctx context.Context, e *Engine) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	contextEngines.Store(true)
	return context.WithValue(ctx, engineKey{}, e)
}

func contextEngine(ctx context.Context) *Engine {
	if !contextEngines.Load() || ctx == nil {
		return nil
	}
	e, _ := ctx.Value(engineKey{}).(*Engine)
	return e
}
