package xoption

import (
	"cmp"
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

// WithDatabase opens a database before the cache and the application's nodes. The schema
// is migrated after the ID node has started and before the nodes start. The database
// contributes to readiness and is closed after the nodes.
//
// Repeated calls combine their options. For example, a package adds its own entities, or
// a test replaces the connection.
func WithDatabase(opts ...xdb.Option) Option {
	return func(p *startup.Plan) {
		p.DatabaseOptions = append(p.DatabaseOptions, opts...)
		p.Database = databasePhase
	}
}

// WithRequiredDatabase is like WithDatabase but makes the startup fail if no database is
// configured.
func WithRequiredDatabase(opts ...xdb.Option) Option {
	return func(p *startup.Plan) {
		WithDatabase(opts...)(p)
		p.NeedDatabase = true
	}
}

func databasePhase(p *startup.Plan) *startup.Phase {
	phase := &startup.Phase{Name: "database", Key: xctx.DatabaseKey}
	options := xdb.NewOptions(p.DatabaseOptions...)
	if !options.Enabled() {
		if !p.NeedDatabase {
			return nil
		}
		phase.Err = missingDatabase()
		return phase
	}
	database, err := xdb.Resolve(options)
	if err != nil {
		phase.Err = err
		return phase
	}
	var db *gorm.DB
	phase.Start = func(ctx context.Context) (any, error) {
		db, err = database.Connect(ctx)
		return db, err
	}
	phase.Detail = database.String
	phase.Close = func(context.Context) error { return xdb.Close(db) }
	phase.Health = func(ctx context.Context) error { return databaseHealth(ctx, db) }
	if database.SupportsLeases() {
		phase.Leases = func(ctx context.Context) (*xlease.Leases, error) {
			return xdb.Leases(db.WithContext(ctx))
		}
	}
	if database.HasSchema() {
		phase.Setup = func(ctx context.Context) error { return database.Setup(ctx, db) }
	}
	return phase
}

func databaseHealth(ctx context.Context, db *gorm.DB) error {
	if err := xdb.CheckHealth(ctx, db); err != nil || !xdb.Saturated(db) {
		return err
	}
	return xhook.Degraded("saturated")
}

// missingDatabase returns the error for a missing required database.
func missingDatabase() error {
	problem := "is not set, and the application requires a database"
	name, set := xenv.GetEnv(xenv.DatabaseDriver)
	if set {
		problem = "is not a database, and the application requires one"
	}
	accepted := cmp.Or(strings.Join(xdb.Drivers(), ", "),
		"a driver that the program imports; it imports none")
	return xenv.Problem(xenv.DatabaseDriver, name, problem, accepted)
}
