package xdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// sqlLogger writes gorm's lines to xlog: a slow statement at WARN, one that is broken at
// ERROR (WARN in a request), and every other at DEBUG. All statements are written without
// parameters and literals.
//
// An error that the application can expect (no row, a violated constraint, a deadlock,
// the end of the context) is the caller's to handle and no line of its own.
type sqlLogger struct {
	log     *xlog.LogNamedLogger
	slow    time.Duration // 0: never
	dialect string
	silent  bool
}

// LogMode implements logger.Interface. Only Silent makes a difference: the rest is xlog's
// level.
func (l *sqlLogger) LogMode(level logger.LogLevel) logger.Interface {
	changed := *l
	changed.silent = level == logger.Silent
	return &changed
}

// Info implements logger.Interface.
func (l *sqlLogger) Info(ctx context.Context, msg string, args ...any) {
	l.line(ctx, slog.LevelInfo, msg, args)
}

// Warn implements logger.Interface.
func (l *sqlLogger) Warn(ctx context.Context, msg string, args ...any) {
	l.line(ctx, slog.LevelWarn, msg, args)
}

// Error implements logger.Interface.
func (l *sqlLogger) Error(ctx context.Context, msg string, args ...any) {
	l.line(ctx, slog.LevelError, msg, args)
}

func (l *sqlLogger) line(ctx context.Context, level slog.Level, msg string, args []any) {
	if !l.silent && l.log.Enabled(ctx, level) {
		l.log.Log(ctx, level, fmt.Sprintf(msg, args...))
	}
}

// ParamsFilter implements gorm.ParamsFilter: no parameter is written into the statement.
func (l *sqlLogger) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}

// Trace implements logger.Interface.
func (l *sqlLogger) Trace(
	ctx context.Context, begin time.Time, statement func() (sql string, rows int64), err error,
) {
	if l.silent {
		return
	}
	took := time.Since(begin)
	level, msg := slog.LevelDebug, "statement"
	switch {
	case broken(err):
		level, msg = failedLevel(ctx), "statement failed"
	case l.slow > 0 && took >= l.slow:
		level, msg = slog.LevelWarn, "slow statement"
	}
	if !l.log.Enabled(ctx, level) {
		return
	}
	sql, rows := statement()
	attrs := []slog.Attr{
		slog.String("sql", withoutLiterals(sql, l.dialect)), slog.Int64("rows", rows),
		slog.Duration("took", took),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", outcome(err)))
	}
	l.log.Log(ctx, level, msg, attrs...)
}

// failedLevel is the level of a broken statement. A request that fails with its error has
// a line at ERROR of its own, so this one, which has the statement, is a warning.
func failedLevel(ctx context.Context) slog.Level {
	if xctx.RequestFrom(ctx) != nil {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// broken reports whether the statement itself is at fault, or the cause is unknown: then
// only the log shows the statement.
func broken(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	found := code(err)
	_, own := errors.AsType[*xerror.Error](err) // of a hook, which needs no statement
	return found == xerror.DatabaseError || found == nil && !own
}

// outcome describes an error without the text of a library, which may quote values.
func outcome(err error) string {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Error()
	}
	for _, known := range []error{
		gorm.ErrRecordNotFound, context.Canceled,
		context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprintf("%T", err)
}
