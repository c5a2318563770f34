package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
)

// rack and tool have rows that contain the name of their file.
type rack struct {
	ID    int64 `gorm:"primaryKey;autoIncrement:false"`
	Name  string
	Tools []tool
}

type tool struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	RackID int64
	Name   string
}

// copies returns the paths of two files, each with a rack and a tool named after the
// file.
func copies(t *testing.T) (primary, replica string) {
	t.Helper()
	dir := t.TempDir()
	paths := map[string]string{
		"primary": filepath.Join(dir, "primary.db"),
		"replica": filepath.Join(dir, "replica.db"),
	}
	for name, path := range paths {
		db := open(t, xdb.Options{Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}})
		err := errors.Join(
			db.AutoMigrate(&rack{}, &tool{}),
			db.Create(&rack{ID: 1, Name: name, Tools: []tool{{ID: 1, Name: name}}}).Error,
			xdb.Close(db),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths["primary"], paths["replica"]
}

// withReplica returns options without idle connections, so that a renamed file becomes
// unavailable.
func withReplica(primary, replica string) xdb.Options {
	return xdb.Options{
		Parts:    driver.Config{Source: xenv.Map{"DATABASE_PATH": primary}},
		Replicas: []xlog.Secret{xlog.Secret("file:" + replica + "?mode=ro")}, MaxIdleConns: -1,
	}
}

// readFrom reads the first rack and its tool and returns the name of their file.
func readFrom(t *testing.T, db *gorm.DB) string {
	t.Helper()
	var s rack
	if err := db.Preload("Tools").First(&s, 1).Error; err != nil {
		t.Fatal(err)
	}
	if len(s.Tools) != 1 || s.Tools[0].Name != s.Name {
		t.Errorf("tools of %s = %v, want those of the same file", s.Name, s.Tools)
	}
	return s.Name
}

func TestReplicas(t *testing.T) {
	t.Run("read from the replica and write to the primary", func(t *testing.T) {
		db := open(t, withReplica(copies(t)))
		ctx := context.WithValue(t.Context(), xctx.DatabaseKey, db)
		for _, tc := range []struct {
			name string
			db   *gorm.DB
			want string
		}{
			{name: "read", db: db, want: "replica"},
			{
				name: "locking read",
				db:   db.Clauses(clause.Locking{Strength: "UPDATE"}), want: "primary",
			},
			{
				name: "read with WithPrimary",
				db:   xdb.MustGetDB(xdb.WithPrimary(ctx)), want: "primary",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got := readFrom(t, tc.db); got != tc.want {
					t.Errorf("read from the %s, want the %s", got, tc.want)
				}
			})
		}
		err := xdb.Transaction(ctx, func(ctx context.Context) error {
			if got := readFrom(t, xdb.MustGetDB(ctx)); got != "primary" {
				t.Errorf("transaction read from the %s, want the primary", got)
			}
			tx := xdb.MustGetDB(ctx)
			return errors.Join(
				tx.Create(&rack{ID: 2, Name: "new"}).Error,
				// the row is invisible outside of the transaction
				tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&rack{}, 2).Error,
				tx.WithContext(xdb.WithPrimary(ctx)).First(&rack{}, 2).Error,
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.First(&rack{}, 2).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
			t.Errorf("read of the new row from the replica = %v, want ErrRecordNotFound", err)
		}
		if err := db.WithContext(xdb.WithPrimary(ctx)).First(&rack{}, 2).Error; err != nil {
			t.Errorf("read of the new row from the primary = %v", err)
		}
	})

	t.Run("are not migrated", func(t *testing.T) {
		primary, replica := copies(t)
		files := fstest.MapFS{"0001_more.sql": &fstest.MapFile{Data: []byte(
			"CREATE TABLE more (id INTEGER);")}}
		o := withReplica(primary, replica)
		o.Migrations = append(o.Migrations, files)
		o.Prepare = []xdb.Prepare{func(_ context.Context, db *gorm.DB) error {
			if got := readFrom(t, db); got != "primary" {
				t.Errorf("Prepare read from the %s, want the primary", got)
			}
			return nil
		}}
		db := open(t, o) // also creates the table of rows
		if !db.Migrator().HasTable("more") || !db.Migrator().HasTable(&row{}) {
			t.Error("the migrator does not see the tables of the primary")
		}
		if err := db.Find(&[]row{}).Error; err != nil {
			t.Errorf("read from the replica = %v, want nil: it has a table of rows", err)
		}
		err := db.Table("more").Find(&[]map[string]any{}).Error
		if driver.KindOf(err) != driver.Syntax {
			t.Errorf("read of the new table from the replica = %v, want kind Syntax", err)
		}
		if list, err := migrate.List(t.Context(), db, files); err != nil || len(list) != 1 ||
			list[0].State != migrate.Applied {
			t.Errorf("migrations = %v, %v; want one that is applied", list, err)
		}
	})

	t.Run("are replaced by the primary when unavailable", func(t *testing.T) {
		primary, replica := copies(t)
		synctest.Test(t, func(t *testing.T) {
			db := open(t, withReplica(primary, replica))
			for _, step := range []struct {
				name     string
				from, to string // rename before the read
				wait     time.Duration
				want     string
			}{
				{name: "available replica", want: "replica"},
				{
					name: "replica becomes unavailable", from: replica, to: replica + ".gone",
					want: "primary",
				},
				{name: "replica is still unavailable", wait: time.Minute, want: "primary"},
				{
					name: "replica is available again", from: replica + ".gone",
					to: replica, wait: 6 * time.Second, want: "replica",
				},
			} {
				if step.from != "" {
					if err := os.Rename(step.from, step.to); err != nil {
						t.Fatal(err)
					}
				}
				<-time.After(step.wait)
				if got := readFrom(t, db); got != step.want {
					t.Errorf("%s: read from the %s, want the %s", step.name, got, step.want)
				}
			}
		})
	})
}
