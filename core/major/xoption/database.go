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

// WithDatabase opens a database before the cache and the application's nodes. When there
// are ids, it is migrated and prepared, still before these nodes. It takes part in the
// readiness and is closed after them.
//
// Given more than once, its options add up as if they had been given to one: a part of an
// application may bring its own entities, and a test may replace the connection.
func WithDatabase(opts ...xdb.Option) Option {
	return func(p *startup.Plan) {
		p.DatabaseOptions = append(p.DatabaseOptions, opts...)
		p.Database = databasePhase
	}
}

// WithRequiredDatabase is WithDatabase for an application that is of no use without one:
// it does not start where none is configured.
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
	if database.KeepsLeases() {
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

// missingDatabase is the problem of an application that needs a database.
func missingDatabase() error {
	problem := "is not set, and the application needs a database"
	name, set := xenv.GetEnv(xenv.DatabaseDriver)
	if set {
		problem = "is no database, and the application needs one"
	}
	accepted := cmp.Or(strings.Join(xdb.Drivers(), ", "),
		"a driver that the program imports; it imports none")
	return xenv.Problem(xenv.DatabaseDriver, name, problem, accepted)
}
