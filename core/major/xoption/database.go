package xoption

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// WithDatabase opens a database before the cache and the application's nodes. When there are ids, it is migrated and
// prepared, still before these nodes. It takes part in the readiness and is closed after them.
//
// Given more than once, its options add up as if they had been given to one: a part of an application may bring its own
// entities, and a test may replace the connection.
func WithDatabase(opts ...xdb.Option) Option {
	return func(p *startup.Plan) {
		p.AddDatabase(opts...)
		if phase := databasePhase(p); !p.Has(phase.Key) {
			p.AddPhase(phase)
			p.AddPhase(schemaPhase(p))
		}
	}
}

// WithRequiredDatabase is WithDatabase for an application that is of no use without one: it does not start where none is
// configured.
func WithRequiredDatabase(opts ...xdb.Option) Option {
	return func(p *startup.Plan) {
		WithDatabase(opts...)(p)
		p.NeedDatabase = true
	}
}

func databasePhase(p *startup.Plan) startup.Phase {
	return startup.Phase{
		Name:    "database",
		Key:     xctx.DatabaseKey,
		Rank:    startup.RankDatabase,
		Enabled: func() bool { return p.NeedDatabase || p.ResolveDatabase().Options.Enabled() },
		Check: func(context.Context) error {
			r := p.ResolveDatabase()
			switch {
			case p.NeedDatabase && !r.Options.Enabled():
				return missingDatabase()
			case r.Value == nil:
				return r.Err
			default:
				return checkLeases(p, r.Value)
			}
		},
		Start: func(ctx context.Context) (any, error) {
			r := p.ResolveDatabase()
			if r.Value == nil {
				return nil, r.Err
			}
			return r.Value.Connect(ctx)
		},
		Close: func(_ context.Context, value any) error {
			return xdb.Close(database(value))
		},
		Health: func(ctx context.Context, value any) error {
			db := database(value)
			if err := xdb.CheckHealth(ctx, db); err != nil || !xdb.Saturated(db) {
				return err
			}
			return xhook.Degraded("saturated")
		},
		Describe: func(any) string { return p.ResolveDatabase().Value.String() },
		Leases: func(ctx context.Context, value any) (*xlease.Leases, error) {
			return xdb.Leases(database(value).WithContext(ctx)) // the database has it
		},
	}
}

// schemaPhase migrates and prepares the database, which may need ids and the cache for it.
func schemaPhase(p *startup.Plan) startup.Phase {
	return startup.Phase{
		Name: "database schema",
		Key:  xctx.Exec,
		Rank: startup.RankSchema,
		Enabled: func() bool {
			db := p.ResolveDatabase().Value
			return db != nil && db.HasSchema()
		},
		Start: func(ctx context.Context) (any, error) {
			return nil, p.ResolveDatabase().Value.Setup(ctx, database(ctx.Value(xctx.DatabaseKey)))
		},
	}
}

// checkLeases reports a driver that is to keep the leases and cannot.
func checkLeases(p *startup.Plan, db *xdb.Database) error {
	wanted := xenv.GetEnvString(xenv.LeaseBackend, "auto")
	if p.Leases != nil || wanted != "database" || db.KeepsLeases() {
		return nil
	}
	return xenv.Problem(xenv.LeaseBackend, wanted, "cannot be: the driver of the database keeps no leases", "auto, cache or none")
}

// missingDatabase is the problem of an application that needs a database.
func missingDatabase() error {
	problem := "is not set, and the application needs a database"
	name, set := xenv.GetEnv(xenv.DatabaseDriver)
	if set {
		problem = "is no database, and the application needs one"
	}
	accepted := strings.Join(xdb.Drivers(), ", ")
	if accepted == "" {
		accepted = "a driver that the program imports; it imports none"
	}
	return xenv.Problem(xenv.DatabaseDriver, name, problem, accepted)
}

// database returns the value that the phase has started with.
func database(value any) *gorm.DB {
	return value.(*gorm.DB) //nolint:forcetypeassert // it is what Start returned
}
