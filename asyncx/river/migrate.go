package river

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/plinthgo/plinth/core/major/xdb"
)

// validSchema matches the schema names that River accepts. River uses them as prefixes of
// channel names.
var validSchema = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,45}$`)

const (
	// migrationLock is the key of the advisory lock of a migration: "river" in ASCII.
	migrationLock int64 = 0x7269766572

	insufficientPrivilege = "42501"
)

// pool opens connections with the settings of the database. River requires a pgx pool,
// and needs one connection for notifications.
func (e *engine) pool(ctx context.Context) (*pgxpool.Pool, error) {
	connConfig, err := e.connConfig(xdb.WithPrimary(ctx))
	if err != nil {
		return nil, fmt.Errorf("river: connect: %w", err)
	}
	c, err := pgxpool.ParseConfig("")
	if err != nil {
		// err may contain values of the variables
		return nil, errors.New("river: connect: cannot parse the PG* environment variables")
	}
	c.ConnConfig, c.MinConns, c.MaxConns = connConfig, 0, maxConns
	p, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("river: connect: %w", err)
	}
	return p, nil
}

// connConfig returns the configuration of the database's connections.
func (e *engine) connConfig(ctx context.Context) (config *pgx.ConnConfig, err error) {
	db, err := e.db.DB()
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = conn.Raw(func(c any) error {
		pgxConn, ok := c.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("database connection is a %T, want one of pgx", c)
		}
		config = pgxConn.Conn().Config()
		config.OnNotification = nil // the handler belongs to the original connection
		return nil
	})
	return config, err
}

// setUp migrates River's tables, or checks them with WithoutMigration.
func (e *engine) setUp(ctx context.Context) error {
	p, err := e.pool(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(p),
		&rivermigrate.Config{Schema: e.schema, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("river: migrate: %w", err)
	}
	missing, err := e.missing(ctx, migrator)
	switch {
	case err != nil:
		return fmt.Errorf("river: check River's tables: %w", err)
	case missing == "":
		return nil
	case e.noMigration:
		return fmt.Errorf("river: River's tables are not up to date (%s): migrate them, "+
			"or remove WithoutMigration", missing)
	}
	err = pgx.BeginFunc(ctx, p,
		func(lock pgx.Tx) error { return e.migrate(ctx, p, lock, migrator) })
	if err != nil {
		return explain(err)
	}
	return nil
}

// missing describes the missing migrations; "" means none.
func (*engine) missing(ctx context.Context, m *rivermigrate.Migrator[pgx.Tx]) (string, error) {
	result, err := m.Validate(ctx, nil)
	if err != nil || result.OK {
		return "", err
	}
	return strings.ToLower(strings.Join(result.Messages, "; ")), nil
}

// migrate applies the missing migrations. River runs each of them in its own transaction,
// on another connection than the lock. The lock is bound to a transaction, so that it
// works with a connection pooler and is released if the process crashes.
func (e *engine) migrate(
	ctx context.Context, p *pgxpool.Pool, lock pgx.Tx, m *rivermigrate.Migrator[pgx.Tx],
) error {
	if _, err := lock.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
		return err
	}
	// another replica may have migrated while this one waited for the lock
	if missing, err := e.missing(ctx, m); err != nil || missing == "" {
		return err
	}
	if e.schema != "" {
		if err := createSchema(ctx, p, e.schema); err != nil {
			return err
		}
	}
	_, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// createSchema creates a schema if it does not exist. Only then the database user needs
// the privilege.
func createSchema(ctx context.Context, p *pgxpool.Pool, name string) error {
	var found bool
	if err := p.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)",
		name).Scan(&found); err != nil || found {
		return err
	}
	_, err := p.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{name}.Sanitize())
	return err
}

// explain wraps a migration error and names the fix if a privilege is missing.
func explain(err error) error {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == insufficientPrivilege {
		return fmt.Errorf("river: the database user cannot create River's tables: grant CREATE "+
			"on the schema, or run `river migrate-up` as another user and use WithoutMigration: %w",
			err)
	}
	return fmt.Errorf("river: migrate: %w", err)
}
