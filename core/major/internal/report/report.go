// Package report writes to the log what is wrong with a start or a stop.
package report

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/internal/guard"
)

// List returns the problems that err joins, at any depth: one line each.
func List(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || err.Error() != errors.Join(joined.Unwrap()...).Error() {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, List(e)...)
	}
	return list
}

// Distinct joins the problems of err and drops those whose text repeats an earlier one.
func Distinct(err error) error {
	var list []error
	for _, problem := range List(err) {
		if !slices.ContainsFunc(list, func(e error) bool { return e.Error() == problem.Error() }) {
			list = append(list, problem)
		}
	}
	return errors.Join(list...)
}

// Problems writes one line for each problem that err joins.
func Problems(ctx context.Context, log *xlog.LogNamedLogger, prefix string, err error) {
	for _, problem := range List(err) {
		log.Error(ctx, prefix+problem.Error())
	}
}

// Panics writes the stacks of the panics that err joins, which their texts do not
// contain, and returns err. part says what has panicked.
func Panics(ctx context.Context, log *xlog.LogNamedLogger, part string, err error) error {
	for _, problem := range List(err) {
		if p, ok := errors.AsType[*guard.PanicError](problem); ok {
			log.Error(ctx, "panic", slog.String("part", part), slog.Any("panic", p.Value),
				slog.String("stack", string(p.Stack)))
		}
	}
	return err
}

// maxWait is how long Bounded waits.
const maxWait = 250 * time.Millisecond

// Bounded runs write, which writes to the log, and returns when it has returned, at the
// latest after a quarter of a second. It is for a goroutine that must not block, also if
// the log does.
func Bounded(write func()) {
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	// there is no log for its error
	_ = guard.Call(ctx, func(context.Context) error { write(); return nil })
}
