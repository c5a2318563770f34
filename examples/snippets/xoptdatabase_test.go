package snippets_test

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

func xoptdatabaseOption(
	migrations fs.FS, createRoles func(ctx context.Context, db *gorm.DB) error,
) xoption.Option {
	type User struct {
		xmodels.BaseEntity
		Name string
	}
	type Role struct {
		xmodels.BaseEntity
		Name string
	}
	return xoption.WithDatabase(
		xoptdatabase.FromEnv(),
		xoptdatabase.WithAutoMigrate(&User{}, &Role{}),
		xoptdatabase.WithMigrations(migrations),
		xoptdatabase.WithPrepare(createRoles),
	)
}

func TestXoptdatabase_Setup(t *testing.T) {
	t.Parallel()
	migrations := fstest.MapFS{
		"0001_names_are_unique.sql": {Data: []byte(
			"CREATE UNIQUE INDEX idx_roles_name ON roles (name);")},
	}
	app := plinthtest.New(t, xoptdatabaseOption(migrations,
		func(_ context.Context, db *gorm.DB) error {
			return db.Exec("INSERT INTO roles (id, name, created_at, updated_at) VALUES (1, 'admin', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)").Error
		}))
	var n int64
	if err := xdb.MustGetDB(app.Context()).Table("roles").Count(&n).Error; err != nil || n != 1 {
		t.Errorf("%d roles, %v; want the prepared role", n, err)
	}
}

func xoptdatabaseOpen(ctx context.Context, use func(db *gorm.DB) error) error {
	type City struct {
		ID   int64
		Name string
	}
	options := xdb.NewOptions(
		xdb.WithDriver("sqlite", ":memory:"),
		xdb.WithAutoMigrate(&City{}),
	)
	db, err := xdb.Open(ctx, options)
	if err != nil {
		return err
	}
	defer xdb.Close(db) //nolint:errcheck // no pending writes
	return use(db)
}

func TestXoptdatabase_Open(t *testing.T) {
	t.Parallel()
	if err := xoptdatabaseOpen(xhelperQuiet(), func(db *gorm.DB) error {
		return db.Exec("INSERT INTO cities (name) VALUES ('Berlin')").Error
	}); err != nil {
		t.Error(err)
	}
}
