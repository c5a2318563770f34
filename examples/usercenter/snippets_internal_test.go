package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/examples/usercenter/internal/entity"
	"github.com/plinthgo/plinth/examples/usercenter/internal/migration"
	"github.com/plinthgo/plinth/examples/usercenter/internal/repository"
)

// This file runs the database snippets of the documentation, because this package has
// entities, migrations and a repository.

// registerWithDatabase is the shortest program with a database. It is only compiled,
// because Register may exit the process.
func registerWithDatabase(ctx context.Context, nodes []xregnode.Node) *xreg.Reg {
	reg := xreg.Register(ctx, nodes,
		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&entity.User{})),
	)
	return reg
}

var _ = registerWithDatabase

// userDatabase starts an application with the user tables.
func userDatabase(t *testing.T) context.Context {
	t.Helper()
	return plinthtest.New(t,
		xoption.WithDatabase(
			xoptdatabase.FromEnv(),
			xoptdatabase.WithAutoMigrate(&entity.User{}),
			xoptdatabase.WithMigrations(migration.Files),
		),
	).Context()
}

// findUser returns a UserNotFound error if the user does not exist.
func findUser(ctx context.Context, id xsnowflake.SnowflakeID) (*entity.User, error) {
	user, err := repository.ByID(ctx, id)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, xerror.NewError(ctx, xerror.UserNotFound, "", false, err)
	}
	return user, err
}

func TestFindUser(t *testing.T) {
	t.Parallel()
	_, err := findUser(userDatabase(t), 1)
	if !errors.Is(err, xerror.UserNotFound) || !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("error = %v, want code and cause", err)
	}
}

func TestTransaction(t *testing.T) {
	t.Parallel()

	t.Run("includes the functions called with its context", func(t *testing.T) {
		t.Parallel()
		ctx := userDatabase(t)
		user := entity.User{Username: "ada", Email: "ada@example.org", Password: "-"}
		failed := errors.New("the audit is closed")
		record := func(ctx context.Context, _ string) error {
			if _, err := repository.ByUsername(ctx, "ada"); err != nil {
				return err
			}
			return failed
		}
		err := xdb.Transaction(ctx, func(ctx context.Context) error {
			if err := repository.Create(ctx, &user); err != nil {
				return err
			}
			return record(ctx, "user created") // the same transaction
		})
		if !errors.Is(err, failed) {
			t.Errorf("error = %v, want the error of record", err)
		}
		if _, err := repository.ByUsername(ctx, "ada"); !errors.Is(err, gorm.ErrRecordNotFound) {
			t.Errorf("the user exists after the transaction failed: %v", err)
		}
	})

	t.Run("runs OnCommit functions after the commit", func(t *testing.T) {
		t.Parallel()
		ctx := userDatabase(t)
		user := entity.User{Username: "ada", Email: "ada@example.org", Password: "-"}
		var notified xsnowflake.SnowflakeID
		tell := func(_ context.Context, id xsnowflake.SnowflakeID) { notified = id }
		err := xdb.Transaction(ctx, func(ctx context.Context) error {
			if err := xdb.MustGetDB(ctx).Create(&user).Error; err != nil {
				return err
			}
			xdb.OnCommit(ctx, func(ctx context.Context) { tell(ctx, user.ID) })
			return nil
		})
		if err != nil || notified.IsZero() || notified != user.ID {
			t.Errorf("notified = %v, %v, want %v", notified, err, user.ID)
		}
	})
}

func TestWithPrimary(t *testing.T) {
	t.Parallel()
	ctx := userDatabase(t)
	user := entity.User{Username: "ada", Email: "ada@example.org", Password: "-"}
	err := repository.Create(ctx, &user)
	if err != nil {
		t.Fatal(err)
	}
	ctx = xdb.WithPrimary(ctx) // also in the functions called with it
	seen, err := repository.ByUsername(ctx, user.Username)
	if err != nil || seen.ID != user.ID {
		t.Errorf("seen = %+v, %v", seen, err)
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	ctx := userDatabase(t)
	created := entity.User{Username: "ada", Email: "ada@example.org", Password: "-"}
	if err := repository.Create(ctx, &created); err != nil {
		t.Fatal(err)
	}
	id := created.ID
	var user entity.User
	err := xdb.MustGetDB(ctx).First(&user, id).Error
	if err != nil || user.Username != "ada" {
		t.Errorf("user = %+v, %v", user, err)
	}
}

func Example_listMigrations() {
	engine, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = engine.Close() }()
	ctx := xlog.NewContext(context.Background(), engine)
	db, err := xdb.Open(ctx, xdb.Options{
		Driver:      "sqlite",
		Parts:       driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}},
		AutoMigrate: []any{&entity.User{}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = xdb.Close(db) }()

	list, err := migrate.List(ctx, db, migration.Files)
	for _, m := range list {
		fmt.Printf("%s %s %d of %d %q\n", m.Name, m.State, m.Done, m.Statements, m.Error)
	}
	fmt.Println(err)
	// Output:
	// 0001_one_address_whatever_its_case.sql pending 0 of 1 ""
	// 0002_names_compare_exactly.sql pending 0 of 0 ""
	// <nil>
}
