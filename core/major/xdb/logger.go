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

// sqlLogger writes gorm's log to xlog: slow statements at WARN, invalid statements at
// ERROR (WARN in a request), and all others at DEBUG, without parameters and literals.
//
// A statement is not invalid if the caller is expected to handle its error: no row, a
// violated constraint, a deadlock, or a context that ended.
type sqlLogger struct {
	log     *xlog.LogNamedLogger
	slow    time.Duration // 0 disables the warning
	dialect string
	silent  bool
}

// LogMode implements logger.Interface. It uses only the level Silent, because xlog has
// its own levels.
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

// ParamsFilter implements gorm.ParamsFilter. It removes the parameters of the statement.
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
	elapsed := time.Since(begin)
	level, msg := slog.LevelDebug, "statement"
	switch {
	case isInvalid(err):
		level, msg = failedLevel(ctx), "statement failed"
	case l.slow > 0 && elapsed >= l.slow:
		level, msg = slog.LevelWarn, "slow statement"
	}
	if !l.log.Enabled(ctx, level) {
		return
	}
	sql, rows := statement()
	attrs := []slog.Attr{
		slog.String("sql", withoutLiterals(sql, l.dialect)), slog.Int64("rows", rows),
		slog.Duration("took", elapsed),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", outcome(err)))
	}
	l.log.Log(ctx, level, msg, attrs...)
}

// failedLevel returns the level of an invalid statement. A failed request logs its own
// line at ERROR, so the statement is logged as a warning.
func failedLevel(ctx context.Context) slog.Level {
	if xctx.RequestFrom(ctx) != nil {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// isInvalid reports whether the statement itself is invalid, or failed for an unknown
// reason. The log must contain such a statement, because the error does not.
func isInvalid(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	errCode := code(err)
	_, isHook := errors.AsType[*xerror.Error](err) // the statement does not explain it
	return errCode == xerror.DatabaseError || errCode == nil && !isHook
}

// outcome describes an error without the text of the library, which may quote values.
func outcome(err error) string {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Error()
	}
	for _, known := range []error{
		gorm.ErrRecordNotFound, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprintf("%T", err)
}
