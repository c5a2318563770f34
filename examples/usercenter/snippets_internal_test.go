package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"gorm.io/gorm"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/examples/usercenter/internal/entity"
	"github.com/plinthgo/plinth/examples/usercenter/internal/migration"
	"github.com/plinthgo/plinth/examples/usercenter/internal/repository"
)

// What pages of the documentation show of databases is run here, where there are entities, migrations and a repository.

// registerWithDatabase is the shortest program with a database; nothing runs it here, because it ends the process.
func registerWithDatabase(ctx context.Context, nodes []xRegNode.RegNodeList) *xReg.Reg {
	reg := xReg.Register(ctx, nodes,
		xOption.WithDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&entity.User{})),
	)
	return reg
}

var _ = registerWithDatabase

// userDatabase starts an application with the tables of users.
func userDatabase(t *testing.T) context.Context {
	t.Helper()
	return plinthtest.New(t,
		xOption.WithDatabase(
			xOptDatabase.FromEnv(),
			xOptDatabase.WithAutoMigrate(&entity.User{}),
			xOptDatabase.WithMigrations(migration.Files),
		),
	).Context()
}

// findUser says of a user who is not there that this is so.
func findUser(ctx context.Context, id xSnowflake.SnowflakeID) (*entity.User, error) {
	user, err := repository.ByID(ctx, id)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, xError.NewError(ctx, xError.UserNotFound, "", false, err)
	}
	return user, err
}

func TestSnippetErrorHasCodeAndCause(t *testing.T) {
	t.Parallel()
	_, err := findUser(userDatabase(t), 1)
	if !errors.Is(err, xError.UserNotFound) || !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("error = %v, want code and cause", err)
	}
}

func TestSnippetTransactionReachesTheFunctionsWithinIt(t *testing.T) {
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
	err := xDB.Transaction(ctx, func(ctx context.Context) error {
		if err := repository.Create(ctx, &user); err != nil {
			return err
		}
		return record(ctx, "user created") // the same transaction
	})
	if !errors.Is(err, failed) {
		t.Errorf("error = %v, want that of the audit", err)
	}
	if _, err := repository.ByUsername(ctx, "ada"); !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("the user is there after the transaction has failed: %v", err)
	}
}

func TestSnippetOnCommitRunsAfterTheCommit(t *testing.T) {
	t.Parallel()
	ctx := userDatabase(t)
	user := entity.User{Username: "ada", Email: "ada@example.org", Password: "-"}
	var told xSnowflake.SnowflakeID
	tell := func(_ context.Context, id xSnowflake.SnowflakeID) { told = id }
	err := xDB.Transaction(ctx, func(ctx context.Context) error {
		if err := xDB.MustGetDB(ctx).Create(&user).Error; err != nil {
			return err
		}
		xDB.OnCommit(ctx, func(ctx context.Context) { tell(ctx, user.ID) })
		return nil
	})
	if err != nil || told.IsZero() || told != user.ID {
		t.Errorf("told = %v, %v, want %v", told, err, user.ID)
	}
}

func TestSnippetReadSeesItsWrite(t *testing.T) {
	t.Parallel()
	ctx := userDatabase(t)
	user := entity.User{Username: "ada", Email: "ada@example.org", Password: "-"}
	err := repository.Create(ctx, &user)
	if err != nil {
		t.Fatal(err)
	}
	ctx = xDB.WithPrimary(ctx) // from here on, also in the functions that are called with it
	seen, err := repository.ByUsername(ctx, user.Username)
	if err != nil || seen.ID != user.ID {
		t.Errorf("seen = %+v, %v", seen, err)
	}
}

func TestSnippetFirstFindsAnID(t *testing.T) {
	t.Parallel()
	ctx := userDatabase(t)
	made := entity.User{Username: "ada", Email: "ada@example.org", Password: "-"}
	if err := repository.Create(ctx, &made); err != nil {
		t.Fatal(err)
	}
	id := made.ID
	var user entity.User
	err := xDB.MustGetDB(ctx).First(&user, id).Error
	if err != nil || user.Username != "ada" {
		t.Errorf("user = %+v, %v", user, err)
	}
}

func Example_listMigrations() {
	engine, err := xLog.New(xLog.Config{Writer: io.Discard})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = engine.Close() }()
	ctx := xLog.NewContext(context.Background(), engine)
	db, err := xDB.Open(ctx, xDB.Options{Driver: "sqlite", Parts: driver.Config{Path: ":memory:"}, AutoMigrate: []any{&entity.User{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = xDB.Close(db) }()

	list, err := xDB.Migrations(ctx, db, migration.Files)
	for _, m := range list {
		fmt.Printf("%s %s %d of %d %q\n", m.Name, m.State, m.Done, m.Statements, m.Error)
	}
	fmt.Println(err)
	// Output:
	// 0001_one_address_whatever_its_case.sql pending 0 of 1 ""
	// 0002_names_compare_exactly.sql pending 0 of 0 ""
	// <nil>
}
