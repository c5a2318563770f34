package startup

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Phase is one step of the startup: a component of the framework or a node of the
// application.
type Phase struct {
	// Name identifies the phase in logs, in the readiness response and in LEASE_BACKEND.
	Name string
	// Key is the context key of the value, or xctx.Exec for a phase without a value.
	Key xctx.ContextKey
	// Err joins the configuration problems of the phase. If any phase has a problem, the
	// startup fails before it starts the first phase.
	Err error
	// Start opens the component and returns its value. ctx is canceled when the startup
	// is aborted. The functions below may be nil and are called only after Start.
	Start func(ctx context.Context) (any, error)
	// Values returns additional context values by key.
	Values func() map[xctx.ContextKey]any
	// Detail describes the component in one line, without secrets.
	Detail func() string
	// Close closes the value during shutdown. If nil, the value's Close method is used.
	Close func(ctx context.Context) error
	// Health checks the value for readiness. If nil, the value's CheckHealth method is
	// used.
	Health func(ctx context.Context) error
	// Leases returns the leases that the component stores. The error wraps
	// xlease.ErrUnsupported if it does not support leases.
	Leases func(ctx context.Context) (*xlease.Leases, error)
	// Setup migrates and prepares a database. It runs after the ID node has started.
	Setup func(ctx context.Context) error
}
