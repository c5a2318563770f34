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

// validSchema is what River takes: it puts the name in front of the longest name of a
// channel.
var validSchema = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,45}$`)

const (
	// migrationLock is the key of the advisory lock that a migration holds: "river" in
	// ASCII.
	migrationLock int64 = 0x7269766572

	insufficientPrivilege = "42501"
)

// pool opens connections like those of the database, which are River's own: it needs pgx
// itself, and one of them listens.
func (e *engine) pool(ctx context.Context) (*pgxpool.Pool, error) {
	connConfig, err := e.connConfig(xdb.WithPrimary(ctx))
	if err != nil {
		return nil, fmt.Errorf("river: connect: %w", err)
	}
	c, err := pgxpool.ParseConfig("")
	if err != nil {
		// err may quote them
		return nil, errors.New(
			"river: connect: the variables PG... of the environment do not parse")
	}
	c.ConnConfig, c.MinConns, c.MaxConns = connConfig, 0, maxConns
	p, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("river: connect: %w", err)
	}
	return p, nil
}

// connConfig returns what a connection of the database was opened with.
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
		library, ok := c.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("a connection of the database is a %T, not one of pgx", c)
		}
		config = library.Conn().Config()
		config.OnNotification = nil // it puts notifications into the queue of that connection
		return nil
	})
	return config, err
}

// setUp brings River's tables up to date, or looks whether they are.
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
		return fmt.Errorf("river: look at River's tables: %w", err)
	case missing == "":
		return nil
	case e.asIs:
		return fmt.Errorf("river: River's tables are not up to date (%s): migrate them, or leave out WithoutMigration", missing)
	}
	if err := pgx.BeginFunc(ctx, p,
		func(lock pgx.Tx) error { return e.migrate(ctx, p, lock, migrator) }); err != nil {
		return e.refused(err)
	}
	return nil
}

// missing says what the tables lack.
func (*engine) missing(ctx context.Context, m *rivermigrate.Migrator[pgx.Tx]) (string, error) {
	result, err := m.Validate(ctx, nil)
	if err != nil || result.OK {
		return "", err
	}
	return strings.ToLower(strings.Join(result.Messages, "; ")), nil
}

// migrate applies what is missing, on connections beside that of the lock: each of
// River's migrations is a transaction of its own. The lock is one of a transaction, so
// that it holds behind a pooler too, and ends with the process.
func (e *engine) migrate(
	ctx context.Context, p *pgxpool.Pool, lock pgx.Tx, m *rivermigrate.Migrator[pgx.Tx],
) error {
	if _, err := lock.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
		return err
	}
	// another replica was faster
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

// createSchema creates a schema where it is missing, and needs the right to do so only
// then.
func createSchema(ctx context.Context, p *pgxpool.Pool, name string) error {
	var found bool
	if err := p.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)",
		name).Scan(&found); err != nil || found {
		return err
	}
	_, err := p.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{name}.Sanitize())
	return err
}

// refused says what to do about a migration that failed.
func (e *engine) refused(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == insufficientPrivilege {
		return fmt.Errorf("river: the database's user may not create River's tables: grant CREATE on the schema, "+
			"or run `river migrate-up` as another user and give WithoutMigration: %w", err)
	}
	return fmt.Errorf("river: migrate: %w", err)
}
