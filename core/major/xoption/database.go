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
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
)

// WithDatabase opens a database before the cache and the application's nodes. When there are ids, it is migrated and
// prepared, still before these nodes. It takes part in the readiness and is closed after them.
//
// Given more than once, its options add up as if they had been given to one: a part of an application may bring its own
// entities, and a test may replace the connection.
func WithDatabase(opts ...xoptdatabase.Option) Option {
	return func(p *startup.Plan) {
		p.Database = append(p.Database, opts...)
		if phase := databasePhase(p); !p.Has(phase.Key) {
			p.AddPhase(phase)
			p.AddPhase(schemaPhase(p))
		}
	}
}

// WithRequiredDatabase is WithDatabase for an application that is of no use without one: it does not start where none is
// configured.
func WithRequiredDatabase(opts ...xoptdatabase.Option) Option {
	return func(p *startup.Plan) {
		WithDatabase(opts...)(p)
		p.NeedDatabase = true
	}
}

func databasePhase(p *startup.Plan) startup.Phase {
	config := func() (*xoptdatabase.Config, error) { return xoptdatabase.Build(p.Database...) }
	return startup.Phase{
		Name: "database",
		Key:  xctx.DatabaseKey,
		Rank: startup.RankDatabase,
		Enabled: func() bool {
			c, err := config()
			return err != nil || c.Enabled() || p.NeedDatabase
		},
		Check: func(ctx context.Context) error {
			c, err := config()
			if err != nil {
				return err
			}
			if p.NeedDatabase && !c.Enabled() {
				return missingDatabase()
			}
			if err := c.Check(ctx); err != nil {
				return err
			}
			return checkLeases(p, c)
		},
		Start: func(ctx context.Context) (any, error) {
			c, err := config()
			if err != nil {
				return nil, err
			}
			return c.Open(ctx)
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
		Describe: func(any) string {
			c, err := config()
			if err != nil {
				return ""
			}
			return c.Describe()
		},
		Leases: func(ctx context.Context, value any) (*xlease.Leases, error) {
			return xdb.Leases(database(value).WithContext(ctx)) //nolint:contextcheck // the database has it
		},
	}
}

// schemaPhase migrates and prepares the database, which may need ids and the cache for it.
func schemaPhase(p *startup.Plan) startup.Phase {
	config := func() (*xoptdatabase.Config, error) { return xoptdatabase.Build(p.Database...) }
	return startup.Phase{
		Name: "database schema",
		Key:  xctx.Exec,
		Rank: startup.RankSchema,
		Enabled: func() bool {
			c, err := config()
			return err == nil && c.HasSchema()
		},
		Start: func(ctx context.Context) (any, error) {
			c, err := config()
			if err != nil {
				return nil, err
			}
			return nil, c.Setup(ctx, database(ctx.Value(xctx.DatabaseKey)))
		},
	}
}

// checkLeases reports a driver that is to keep the leases and cannot.
func checkLeases(p *startup.Plan, c *xoptdatabase.Config) error {
	wanted := xenv.String(xenv.LeaseBackend)
	if len(p.Leases) > 0 || wanted != "database" || !c.Enabled() || c.KeepsLeases() {
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
