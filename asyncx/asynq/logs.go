package asynq

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// logger forwards asynq's messages about the server. Package job logs the outcomes of
// jobs.
type logger struct {
	ctx    context.Context // asynq's methods have no context
	failed func(ctx context.Context, what string, err error)
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

// usual are parts of messages that are not errors: outcomes of jobs, and races with other
// workers.
var usual = []string{"Retry exhausted for task", "revoke task", "NOT FOUND"}

func (l *logger) report(args []any) {
	text := fmt.Sprint(args...)
	for _, part := range usual {
		if strings.Contains(text, part) {
			return
		}
	}
	l.failed(l.ctx, "asynq", errors.New(text))
}
