package sqlite_test

import (
	"log" //nolint:depguard // for gorm's logger
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Entities with every kind of association that gorm saves.
type (
	author struct {
		ID        int64
		CompanyID int64
		Company   company // belongs to
		Profile   profile // has one
		Books     []book  // has many
		Tags      []tag   `gorm:"many2many:author_tags"`
	}
	company struct{ ID int64 }
	profile struct{ ID, AuthorID int64 }
	book    struct{ ID, AuthorID int64 }
	tag     struct{ ID int64 }
)

func authors(tb testing.TB) *gorm.DB {
	tb.Helper()
	db := open(tb, file(tb))
	if err := db.AutoMigrate(&company{}, &author{}, &profile{}, &book{}, &tag{}); err != nil {
		tb.Fatal(err)
	}
	return db
}

func TestAssociations(t *testing.T) {
	t.Run("are saved with their entity", func(t *testing.T) {
		db := authors(t)
		a := author{
			Company: company{ID: 1}, Profile: profile{ID: 2}, Books: []book{{ID: 3}, {ID: 4}},
			Tags: []tag{{ID: 5}},
		}
		if err := db.Create(&a).Error; err != nil {
			t.Fatal(err)
		}
		for table, want := range map[string]int64{
			"companies": 1, "profiles": 1, "books": 2, "tags": 1, "author_tags": 1,
		} {
			if got := count(t, db, table); got != want {
				t.Errorf("%d rows of %s after the insert, want %d", got, table, want)
			}
		}
		a.Company, a.Profile = company{ID: 11}, profile{ID: 12}
		a.Books, a.Tags = append(a.Books, book{ID: 13}), append(a.Tags, tag{ID: 15})
		if err := db.Save(&a).Error; err != nil {
			t.Fatal(err)
		}
		for table, want := range map[string]int64{
			"companies": 2, "profiles": 2, "books": 3, "tags": 2, "author_tags": 2,
		} {
			if got := count(t, db, table); got != want {
				t.Errorf("%d rows of %s after the update, want %d", got, table, want)
			}
		}
	})

	t.Run("of one kind are saved with their entity", func(t *testing.T) {
		type (
			employee struct {
				ID        int64
				CompanyID int64
				Company   company
			}
			owner struct {
				ID      int64
				Profile profile `gorm:"foreignKey:AuthorID"`
			}
			shelf struct {
				ID    int64
				Books []book `gorm:"foreignKey:AuthorID"`
			}
			page struct {
				ID   int64
				Tags []tag `gorm:"many2many:page_tags"`
			}
		)
		for _, tc := range []struct {
			name   string
			entity any
			table  string
		}{
			{name: "belongs to", entity: &employee{Company: company{ID: 1}}, table: "companies"},
			{name: "has one", entity: &owner{Profile: profile{ID: 1}}, table: "profiles"},
			{name: "has many", entity: &shelf{Books: []book{{ID: 1}}}, table: "books"},
			{name: "many to many", entity: &page{Tags: []tag{{ID: 1}}}, table: "page_tags"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				db := open(t, file(t))
				err := db.AutoMigrate(&company{}, &profile{}, &book{}, &tag{}, tc.entity)
				if err != nil {
					t.Fatal(err)
				}
				if err := db.Create(tc.entity).Error; err != nil {
					t.Fatal(err)
				}
				if got := count(t, db, tc.table); got != 1 {
					t.Errorf("%d rows of %s, want 1", got, tc.table)
				}
			})
		}
	})

	t.Run("use a replaced callback", func(t *testing.T) {
		db := open(t, file(t))
		called := false
		if err := db.Callback().Create().Replace("gorm:save_before_associations",
			func(*gorm.DB) { called = true }); err != nil {
			t.Fatal(err)
		}
		if err := db.Create(&row{ID: 1}).Error; err != nil {
			t.Fatal(err)
		}
		if !called {
			t.Error("the application's callback was not called for an entity without associations")
		}
	})
}

func count(tb testing.TB, db *gorm.DB, table string) (n int64) {
	tb.Helper()
	if err := db.Table(table).Count(&n).Error; err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestOpen_GormConfig(t *testing.T) {
	var lines strings.Builder
	custom := logger.New(log.New(&lines, "", 0), logger.Config{LogLevel: logger.Info})
	built := false
	build := func(c clause.Clause, b clause.Builder) {
		built = true
		c.Build(b)
	}
	db := open(t, xdb.Options{
		Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}},
		Gorm: func(c *gorm.Config) {
			c.Logger = custom
			c.ClauseBuilders = map[string]clause.ClauseBuilder{"VALUES": build}
		},
	})
	if strings.Contains(lines.String(), "callback") || db.Logger != custom {
		t.Errorf("log = %q, logger = %v; want no callback in the log and the custom logger",
			&lines, db.Logger)
	}
	if err := db.Create(&row{ID: 1}).Error; err != nil || !built {
		t.Errorf("error = %v, the custom clause builder was called: %t", err, built)
	}
}
