package asynq

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// logger reports asynq's messages about the server to onError. Package job logs the
// outcomes of jobs.
type logger struct {
	ctx     context.Context // asynq's methods have no context
	onError func(ctx context.Context, operation string, err error)
}

// Debug implements asynq.Logger.
func (*logger) Debug(...any) {}

// Info implements asynq.Logger.
func (*logger) Info(...any) {}

// Warn implements asynq.Logger.
func (l *logger) Warn(args ...any) { l.report(args) }

// Error implements asynq.Logger.
func (l *logger) Error(args ...any) { l.report(args) }

// Fatal implements asynq.Logger. It does not exit the process.
func (l *logger) Fatal(args ...any) { l.report(args) }

// ignoredMessages are parts of messages that do not report server errors: outcomes of
// jobs, and races with other workers.
var ignoredMessages = []string{"Retry exhausted for task", "revoke task", "NOT FOUND"}

func (l *logger) report(args []any) {
	text := fmt.Sprint(args...)
	for _, part := range ignoredMessages {
		if strings.Contains(text, part) {
			return
		}
	}
	l.onError(l.ctx, "asynq", errors.New(text))
}
