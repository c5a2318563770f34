package startup

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Phase is a part of the start: of the framework, which makes it when the environment is
// complete, or a node of the application.
type Phase struct {
	// Name is the word for it in logs and in the readiness answer, and in LEASE_BACKEND.
	Name string
	// Key is where its value is found; xctx.Exec is for a phase without one.
	Key xctx.ContextKey
	// Err joins every problem of its settings. A start with a problem opens nothing.
	Err error
	// Start opens it and returns its value. ctx ends when the start is given up. The
	// other functions are called only after it, and may be nil.
	Start func(ctx context.Context) (any, error)
	// Values returns what else is found in the context, by key.
	Values func() map[xctx.ContextKey]any
	// Detail is one line for people, without a secret.
	Detail func() string
	// Close closes it at the stop; nil is the value's own Close method.
	Close func(ctx context.Context) error
	// Health is its part in the readiness; nil is the value's own CheckHealth method.
	Health func(ctx context.Context) error
	// Leases returns the leases that it keeps. The error wraps xlease.ErrUnsupported if
	// it keeps none.
	Leases func(ctx context.Context) (*xlease.Leases, error)
	// Setup migrates and prepares a database, when there are ids.
	Setup func(ctx context.Context) error
}
