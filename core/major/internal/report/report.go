// Package report logs the problems of a startup or a shutdown.
package report

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/internal/guard"
	"github.com/plinthgo/plinth/core/internal/joined"
)

// List returns the errors that are joined in err, at any depth. It returns nil for a nil
// err.
func List(err error) []error { return joined.List(err) }

// Distinct returns err without problems whose text repeats that of an earlier one.
func Distinct(err error) error {
	var list []error
	for _, problem := range List(err) {
		if !slices.ContainsFunc(list, func(e error) bool { return e.Error() == problem.Error() }) {
			list = append(list, problem)
		}
	}
	return errors.Join(list...)
}

// Problems logs one line for each error that is joined in err.
func Problems(ctx context.Context, log *xlog.LogNamedLogger, prefix string, err error) {
	for _, problem := range List(err) {
		log.Error(ctx, prefix+problem.Error())
	}
}

// Panics logs the stack of each panic that is joined in err, because the error text does
// not contain it, and returns err. part names the component that panicked.
func Panics(ctx context.Context, log *xlog.LogNamedLogger, part string, err error) error {
	for _, problem := range List(err) {
		if p, ok := errors.AsType[*guard.PanicError](problem); ok {
			log.Error(ctx, "panic", slog.String("part", part), slog.Any("panic", p.Value),
				slog.String("stack", string(p.Stack)))
		}
	}
	return err
}

const maxWait = 250 * time.Millisecond

// Bounded runs write and returns when it returns, or after 250 ms. Use it to log from a
// goroutine that must not block even if the log does.
func Bounded(write func()) {
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	// an error means that the log is blocked or broken, so it cannot be logged
	_ = guard.Call(ctx, func(context.Context) error { write(); return nil })
}
