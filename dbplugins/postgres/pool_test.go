package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// town is the entity of an earlier release.
type town struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
}

// TableName implements schema.Tabler.
func (town) TableName() string { return "plinth_test_towns" }

// townWithColumn is the entity of a later release.
type townWithColumn struct {
	town

	Colour *string
}

// dropAfter drops a table after the test.
func dropAfter(t *testing.T, db *gorm.DB, entity any) {
	t.Helper()
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := db.WithContext(ctx).Migrator().DropTable(entity); err != nil {
			t.Error(err)
		}
	})
}

// towns opens a database with one town. Each of its connections has prepared the
// statement of read.
func towns(t *testing.T, connections int, read func(db *gorm.DB) error) *gorm.DB {
	t.Helper()
	_, config := find(t)
	db := open(t, xdb.Options{
		Parts: config, MaxOpenConns: connections, MaxIdleConns: connections,
		AutoMigrate: []any{&town{}},
	})
	dropAfter(t, db, &town{})
	if err := db.Create(&town{ID: 1, Name: "Oslo"}).Error; err != nil {
		t.Fatal(err)
	}
	for range connections {
		tx := db.Begin()
		defer tx.Rollback() // each transaction needs its own connection
		if err := read(tx); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// addColumn adds a column as another replica does.
func addColumn(t *testing.T) {
	t.Helper()
	_, config := find(t)
	open(t, xdb.Options{Parts: config, AutoMigrate: []any{&townWithColumn{}}})
}

func TestPool_StalePlan(t *testing.T) {
	t.Run("retries after another replica added a column", func(t *testing.T) {
		const query = "SELECT * FROM plinth_test_towns WHERE id = ?"
		for name, read := range map[string]func(db *gorm.DB) error{
			"First": first,
			"Exec":  func(db *gorm.DB) error { return db.Exec(query, 1).Error },
			"Row": func(db *gorm.DB) error {
				row := db.Raw(query, 1).Row()
				err := row.Err()
				_ = row.Scan() // releases the connection
				return err
			},
			"Rows": func(db *gorm.DB) error {
				rows, err := db.Raw(query, 1).Rows()
				if err != nil {
					return err
				}
				return errors.Join(rows.Close(), rows.Err())
			},
		} {
			t.Run(name, func(t *testing.T) {
				db := towns(t, 5, read)
				addColumn(t)
				var all sync.WaitGroup
				for range 20 { // a retry may use a connection with a stale plan
					all.Go(func() {
						if err := read(db); err != nil {
							t.Errorf("read = %v", err)
						}
					})
				}
				all.Wait()
			})
		}
	})

	t.Run("returns a retryable error in a transaction", func(t *testing.T) {
		db := towns(t, 1, first)
		addColumn(t)
		if err := db.Transaction(first); driver.KindOf(err) != driver.Deadlock {
			t.Errorf("transaction = %v, want kind Deadlock", err)
		}
		if err := db.Transaction(first); err != nil {
			t.Errorf("retried transaction = %v", err)
		}
	})
}

func first(db *gorm.DB) error { return db.First(&town{}, 1).Error }

// wide is a table of 131 columns.
type wide struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false"`
	A  ten   `gorm:"embedded;embeddedPrefix:a_"`
	B  ten   `gorm:"embedded;embeddedPrefix:b_"`
	C  ten   `gorm:"embedded;embeddedPrefix:c_"`
	D  ten   `gorm:"embedded;embeddedPrefix:d_"`
	E  ten   `gorm:"embedded;embeddedPrefix:e_"`
	F  ten   `gorm:"embedded;embeddedPrefix:f_"`
	G  ten   `gorm:"embedded;embeddedPrefix:g_"`
	H  ten   `gorm:"embedded;embeddedPrefix:h_"`
	I  ten   `gorm:"embedded;embeddedPrefix:i_"`
	J  ten   `gorm:"embedded;embeddedPrefix:j_"`
	K  ten   `gorm:"embedded;embeddedPrefix:k_"`
	L  ten   `gorm:"embedded;embeddedPrefix:l_"`
	M  ten   `gorm:"embedded;embeddedPrefix:m_"`
}

// TableName implements schema.Tabler.
func (wide) TableName() string { return "plinth_test_wide" }

type ten struct{ C0, C1, C2, C3, C4, C5, C6, C7, C8, C9 int }

func TestDialector_Create(t *testing.T) {
	t.Run("inserts a slice of a wide table", func(t *testing.T) {
		_, config := find(t)
		db := open(t, xdb.Options{Parts: config, AutoMigrate: []any{&wide{}}})
		dropAfter(t, db, &wide{})
		rows := make([]wide, 1200)
		for i := range rows {
			rows[i].ID = int64(i + 1)
		}
		if err := db.Create(&rows).Error; err != nil {
			t.Fatal(err)
		}
		var n int64
		if err := db.Model(&wide{}).Count(&n).Error; err != nil || n != 1200 {
			t.Errorf("rows = %d (%v), want 1200", n, err)
		}
	})
}
