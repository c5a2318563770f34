package startup

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Phase is a part of the framework that starts before the application's nodes. It is made when the
// environment is complete.
type Phase struct {
	// Name is the word for it in logs and in the readiness answer, and in LEASE_BACKEND.
	Name string
	// Key is where its value is found.
	Key xctx.ContextKey
	// Err joins every problem of its settings. A start with a problem opens nothing.
	Err error
	// Start opens it. ctx ends when the start is given up.
	Start func(ctx context.Context) (Part, error)
	// Leases returns the leases that it keeps, after Start. The error wraps xlease.ErrUnsupported if it
	// keeps none. It is nil for a phase that never keeps any.
	Leases func(ctx context.Context) (*xlease.Leases, error)
	// Setup runs when there are ids: it migrates and prepares a database. It may be nil.
	Setup func(ctx context.Context) error
}

// Part is what a phase or a node has started.
type Part struct {
	// Value is found under the key.
	Value any
	// Values are other values for the context, by key.
	Values map[xctx.ContextKey]any
	// Detail is one line for people, without a secret.
	Detail string
	// Close closes it at the stop; nil is the value's own Close method.
	Close func(ctx context.Context) error
	// Health is its part in the readiness; nil is the value's own CheckHealth method.
	Health func(ctx context.Context) error
}
