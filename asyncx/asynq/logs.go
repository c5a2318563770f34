package asynq

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// logger passes on what asynq says of its server. What becomes of jobs is logged by
// package job.
type logger struct {
	ctx    context.Context // asynq's methods have none
	failed func(ctx context.Context, what string, err error)
}

// Debug implements asynq.Logger.
func (*logger) Debug(...any) {}

// Info implements asynq.Logger.
func (*logger) Info(...any) {}

// Warn implements asynq.Logger.
func (l *logger) Warn(args ...any) { l.tell(args) }

// Error implements asynq.Logger.
func (l *logger) Error(args ...any) { l.tell(args) }

// Fatal implements asynq.Logger, and does not end the process.
func (l *logger) Fatal(args ...any) { l.tell(args) }

// usual are the beginnings and ends of lines about jobs, and about what another worker
// was faster with.
var usual = []string{"Retry exhausted for task", "revoke task", "NOT FOUND"}

func (l *logger) tell(args []any) {
	text := fmt.Sprint(args...)
	for _, part := range usual {
		if strings.Contains(text, part) {
			return
		}
	}
	l.failed(l.ctx, "asynq", errors.New(text))
}
