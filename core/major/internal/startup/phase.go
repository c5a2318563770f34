package startup

import (
	"context"
	"fmt"
	"slices"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Rank orders the phases of a start.
type Rank int

// The ranks of the framework's own phases; the application's nodes come after all phases. A phase that makes ids has one
// above RankSnowflake, a phase that needs the tables one above RankSchema.
const (
	RankDatabase  Rank = 100 // opened, not yet migrated
	RankCache     Rank = 200
	RankLeases    Rank = 300
	RankSnowflake Rank = 400
	RankSchema    Rank = 500 // the database is migrated and prepared
)

// Phase is a part of the framework that starts before the application's nodes.
type Phase struct {
	// Name is the word for it in logs and in the readiness answer.
	Name string
	// Key is where its value is found; xctx.Exec is for a phase without one, and may stand more than once.
	Key xctx.ContextKey
	// Rank orders the phases; those of one rank start in the order of their options.
	Rank Rank
	// Enabled reports, once the environment is complete, whether there is anything to start; nil is always.
	Enabled func() bool
	// Check returns every problem of its settings, joined. It opens nothing. It may be nil.
	Check func(ctx context.Context) error
	// Start opens it. ctx ends when the start is given up.
	Start func(ctx context.Context) (any, error)
	// Values returns what else is found in the context, by key. It may be nil.
	Values func(value any) map[xctx.ContextKey]any
	// Close closes it at the stop; nil is the value's own Close method.
	Close func(ctx context.Context, value any) error
	// Health is its part in the readiness; nil is the value's own CheckHealth method.
	Health func(ctx context.Context, value any) error
	// Describe is one line for people, without a secret. It may be nil.
	Describe func(value any) string
	// Leases returns the leases that the value keeps. The error wraps xlease.ErrUnsupported where it keeps none. Name is then
	// what LEASE_BACKEND calls it. nil is a phase that never keeps any.
	Leases func(ctx context.Context, value any) (*xlease.Leases, error)
}

// AddPhase adds a phase; a second phase with the same key is a problem.
func (p *Plan) AddPhase(phase Phase) {
	if !phase.Key.IsExec() && p.Has(phase.Key) {
		p.Problem(fmt.Errorf("xoption: %s is configured twice", phase.Name))
		return
	}
	p.Phases = append(p.Phases, phase)
}

// Has reports whether there is a phase with this key.
func (p *Plan) Has(key xctx.ContextKey) bool {
	return slices.ContainsFunc(p.Phases, func(other Phase) bool { return other.Key == key })
}
