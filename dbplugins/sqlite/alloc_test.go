//go:build !race

package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"

	gormsqlite "github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

func TestDialector_Create_Allocations(t *testing.T) {
	config := &gorm.Config{SkipDefaultTransaction: true, Logger: logger.Discard}
	path := filepath.Join(t.TempDir(), "library.db")
	dsn, err := sqlite.Driver{}.DSN(driver.Config{Source: xenv.Map{"DATABASE_PATH": path}})
	if err != nil {
		t.Fatal(err)
	}
	library, err := gorm.Open(gormsqlite.Open(dsn), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(library) }()
	if err := library.AutoMigrate(&user{}); err != nil {
		t.Fatal(err)
	}
	ctx := withNode(t)
	node, library := nodeOf(ctx, t), library.WithContext(ctx)
	want := testing.AllocsPerRun(200, func() {
		u := user{Username: "name", Email: "name@example.org"}
		u.ID = node.MustGenerate()
		err = errors.Join(err, library.Create(&u).Error)
	})
	inserts := byPlinth(ctx, t, "", true)
	got := testing.AllocsPerRun(200, func() { err = errors.Join(err, inserts.do(1)) })
	if err != nil {
		t.Fatal(err)
	}
	if got > want {
		t.Errorf("allocations = %v, want at most gorm's own %v", got, want)
	}
}
