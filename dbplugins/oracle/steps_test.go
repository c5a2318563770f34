package oracle_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing/fstest"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// step is an operation of an application.
type step struct {
	name string
	do   func(db *gorm.DB) error
}

var (
	at     = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	lock   = clause.Locking{Strength: "UPDATE"}
	onName = []clause.Column{{Name: "name"}}
	many   = func() []int64 {
		ids := make([]int64, 2500)
		for i := range ids {
			ids[i] = int64(i)
		}
		return ids
	}()
)

func named(name string) *author { return &author{Name: name} }

func creates() []step {
	long := strings.Repeat("x", 5000)
	return []step{
		{"create one", func(db *gorm.DB) error { return db.Create(named("a")).Error }},
		{"create a batch", func(db *gorm.DB) error {
			return db.Create([]*author{named("a"), named("b")}).Error
		}},
		{"create with an association", func(db *gorm.DB) error {
			return db.Create(&author{Name: "a", Books: []book{{Title: "x"}, {Title: "y"}}}).Error
		}},
		{"create a large text", func(db *gorm.DB) error {
			return db.Create(&event{Kind: "k", At: at, Body: &long, Data: make([]byte, 3000)}).Error
		}},
		{"create a document", func(db *gorm.DB) error {
			return db.Create(&document{Tags: []string{long}, More: map[string]any{"a": 1.5}}).Error
		}},
		{
			"create what the database fills in",
			func(db *gorm.DB) error { return db.Create(&tag{Level: "x"}).Error },
		},
		{"create a batch that the database fills in", func(db *gorm.DB) error {
			return db.Create([]*tag{{Level: "x"}, {ID: 5, Level: "y", Label: "mine"}}).Error
		}},
		{"create many to many", func(db *gorm.DB) error {
			return db.Create(&tag{Level: "x", Owners: []owner{{Name: "a"}, {Name: "b"}}}).Error
		}},
		{"create of a map", func(db *gorm.DB) error {
			return db.Model(&author{}).Create(map[string]any{"name": "m", "age": 1}).Error
		}},
		{"create and return", func(db *gorm.DB) error {
			c := clause.Returning{Columns: []clause.Column{{Name: "created_at"}}}
			return db.Clauses(c).Create(named("a")).Error
		}},
		{"create without a transaction", func(db *gorm.DB) error {
			return db.Session(&gorm.Session{SkipDefaultTransaction: true}).Create(named("a")).Error
		}},
		{"save", func(db *gorm.DB) error { return db.Save(named("a")).Error }},
		{"save what exists", func(db *gorm.DB) error {
			a := named("a")
			a.ID, a.CreatedAt = 5, at
			return db.Save(a).Error
		}},
		{"first or create", func(db *gorm.DB) error {
			return db.Where(author{Name: "f"}).FirstOrCreate(&author{}).Error
		}},
	}
}

func upserts() []step {
	return []step{
		{"upsert", func(db *gorm.DB) error {
			c := clause.OnConflict{
				Columns:   onName,
				DoUpdates: clause.AssignmentColumns([]string{"name", "age", "updated_at"}),
			}
			return db.Clauses(c).Create([]*author{named("a"), named("b")}).Error
		}},
		{"upsert with an expression and a condition", func(db *gorm.DB) error {
			c := clause.OnConflict{
				Columns: onName,
				DoUpdates: clause.Assignments(
					map[string]any{"age": gorm.Expr("app_authors.age + excluded.age + ?", 1)}),
				Where: clause.Where{Exprs: []clause.Expression{
					clause.Expr{SQL: "app_authors.age < ?", Vars: []any{9}},
				}},
			}
			return db.Clauses(c).Create(named("a")).Error
		}},
		{"update all", func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(named("a")).Error
		}},
		{"insert or leave by a column", func(db *gorm.DB) error {
			c := clause.OnConflict{Columns: onName, DoNothing: true}
			return db.Clauses(c).Create(named("a")).Error
		}},
		{"insert or leave", func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{DoNothing: true}).Create(named("a")).Error
		}},
		{"insert or leave a batch", func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{DoNothing: true}).Create(
				[]*author{named("a"), named("b")}).Error
		}},
		{"update all of what the database fills in", func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(
				[]*tag{{Level: "new"}, {ID: 5, Level: "old"}}).Error
		}},
		{"upsert of large values and nulls", func(db *gorm.DB) error {
			c := clause.OnConflict{
				Columns:   []clause.Column{{Name: "id"}},
				DoUpdates: clause.AssignmentColumns([]string{"body", "data"}),
			}
			return db.Clauses(c).Create(&event{Kind: "k", At: at}).Error
		}},
	}
}

func queries() []step {
	var n int64
	var texts []string
	return []step{
		{"first", func(db *gorm.DB) error { return foundOrNil(db.First(&author{}, 5).Error) }},
		{"last", func(db *gorm.DB) error { return foundOrNil(db.Last(&author{}).Error) }},
		{"take", func(db *gorm.DB) error { return foundOrNil(db.Take(&author{}).Error) }},
		{"find", func(db *gorm.DB) error {
			return db.Where("age > ?", 3).Order("name DESC").Find(&[]author{}).Error
		}},
		{"limit and offset", func(db *gorm.DB) error {
			return db.Limit(3).Offset(6).Find(&[]note{}).Error
		}},
		{"offset", func(db *gorm.DB) error { return db.Offset(math.MaxInt).Find(&[]note{}).Error }},
		{"no limit", func(db *gorm.DB) error {
			return db.Limit(-1).Offset(-1).Find(&[]note{}).Error
		}},
		{"page", func(db *gorm.DB) error {
			_, err := xmodels.Paginate[event](db.Where("at IS NOT NULL"),
				xmodels.PageRequest{Page: 2, Size: 10, Sort: "desc"}, xmodels.SortBy("kind"),
				xmodels.WithoutCount())
			return err
		}},
		{"keyset", func(db *gorm.DB) error {
			_, err := xmodels.Keyset[event](db.Where("id > ?", 0), xmodels.KeysetRequest{Size: 10},
				xmodels.SortBy("at", "kind"))
			return err
		}},
		{"pluck", func(db *gorm.DB) error {
			return db.Model(&note{}).Order("id").Pluck("text", &texts).Error
		}},
		{"count", func(db *gorm.DB) error {
			return db.Model(&note{}).Where("text = ?", "x").Count(&n).Error
		}},
		{"count distinct", func(db *gorm.DB) error {
			return db.Model(&note{}).Distinct("text").Count(&n).Error
		}},
		{"count of groups", func(db *gorm.DB) error {
			return db.Model(&event{}).Group("kind").Count(&n).Error
		}},
		{"distinct", func(db *gorm.DB) error {
			return db.Model(&event{}).Distinct("kind").Find(&[]event{}).Error
		}},
		{"group and having", func(db *gorm.DB) error {
			return db.Model(&event{}).Select("kind, count(*) AS n").Group("kind").Having(
				"count(*) > ?", 1).Scan(&[]map[string]any{}).Error
		}},
		{"join", func(db *gorm.DB) error {
			return db.Joins("Author").Where(`"Author"."AGE" > ?`, 1).Limit(2).Find(&[]book{}).Error
		}},
		{"inner join", func(db *gorm.DB) error {
			return db.InnerJoins("Author").Find(&[]book{}).Error
		}},
		{"subquery", func(db *gorm.DB) error {
			return db.Where("author_id IN (?)",
				db.Model(&author{}).Select("id").Where("age > ?", 1)).Find(&[]book{}).Error
		}},
		{"from a subquery", func(db *gorm.DB) error {
			return db.Table("(?) u", db.Model(&author{}).Select("name")).Count(&n).Error
		}},
		{"or, not, between", func(db *gorm.DB) error {
			return db.Where("age BETWEEN ? AND ?", 1, 2).Or(map[string]any{"name": "x"}).
				Not("name = ?", "y").Find(&[]author{}).Error
		}},
		{"conditions of a struct", func(db *gorm.DB) error {
			return db.Where(&tag{Level: "x", Active: true}).Find(&[]tag{}).Error
		}},
		{"a list of 1500", func(db *gorm.DB) error {
			return db.Where("id IN ?", many[:1500]).Find(&[]author{}).Error
		}},
		{"no list of 2500", func(db *gorm.DB) error {
			return db.Not(map[string]any{"id": many}).Where("age = ?", 1).Find(&[]author{}).Error
		}},
		{"an empty list", func(db *gorm.DB) error {
			return db.Where("id IN ?", []int{}).Find(&[]author{}).Error
		}},
		{"raw", func(db *gorm.DB) error {
			return db.Raw("SELECT count(*) FROM app_notes WHERE text IN ?",
				[]string{"a", "b"}).Scan(&n).Error
		}},
		{"rows", func(db *gorm.DB) error {
			rows, err := db.Model(&author{}).Rows()
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			return rows.Err()
		}},
		{"in batches", func(db *gorm.DB) error {
			return db.FindInBatches(&[]author{}, 10, func(*gorm.DB, int) error { return nil }).Error
		}},
	}
}

// preloading reads authors and their books. The script of the double returns the authors.
func preloading() step {
	return step{"preload", func(db *gorm.DB) error {
		return db.Preload("Books").Find(&[]author{}).Error
	}}
}

func locks() []step {
	tx := func(do func(tx *gorm.DB) error) func(*gorm.DB) error {
		return func(db *gorm.DB) error { return db.Transaction(do) }
	}
	return []step{
		{"first, locked", tx(func(tx *gorm.DB) error {
			return foundOrNil(tx.Clauses(lock).First(&account{}, 5).Error)
		})},
		{"take, locked", tx(func(tx *gorm.DB) error {
			return foundOrNil(tx.Clauses(lock).Where("id = ?", 5).Take(&account{}).Error)
		})},
		{"list, locked", tx(func(tx *gorm.DB) error {
			return tx.Clauses(lock).Where("id IN ?",
				[]int{5}).Order("id DESC").Find(&[]account{}).Error
		})},
		{"page, locked", tx(func(tx *gorm.DB) error {
			c := clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}
			return tx.Clauses(c).Where("text <> ?",
				"x").Order("text").Offset(2).Limit(1).Find(&[]note{}).Error
		})},
		{"one table of a join, locked", tx(func(tx *gorm.DB) error {
			c := clause.Locking{
				Strength: "UPDATE",
				Table:    clause.Table{Name: clause.CurrentTable}, Options: "NOWAIT",
			}
			return tx.Joins("Author").Clauses(c).Find(&[]book{}).Error
		})},
		{
			"locked without a transaction",
			func(db *gorm.DB) error { return db.Clauses(lock).Find(&[]account{}).Error },
		},
		{"savepoint", tx(func(tx *gorm.DB) error {
			return errors.Join(tx.SavePoint("half").Error, tx.Create(&note{Text: "b"}).Error,
				tx.RollbackTo("half").Error)
		})},
		{"nested", tx(func(tx *gorm.DB) error {
			boom := errors.New("boom")
			if err := tx.Transaction(func(*gorm.DB) error { return boom }); !errors.Is(err, boom) {
				return fmt.Errorf("the inner transaction = %w", err)
			}
			return nil
		})},
	}
}

func changes() []step {
	return []step{
		{"update one", func(db *gorm.DB) error {
			return db.Model(&author{}).Where("id = ?", 5).Update("age", 2).Error
		}},
		{"update by an expression", func(db *gorm.DB) error {
			return db.Model(&author{}).Where("id = ?", 5).Update("age",
				gorm.Expr("age + ?", 1)).Error
		}},
		{"update to null", func(db *gorm.DB) error {
			return db.Model(&author{}).Where("id = ?", 5).Update("email", nil).Error
		}},
		{"update of several", func(db *gorm.DB) error {
			return db.Model(&tag{}).Where("id IN ?",
				[]int{1, 2}).Updates(map[string]any{"active": false, "level": "z"}).Error
		}},
		{"update with a version", func(db *gorm.DB) error {
			a := account{Balance: 3, Version: 1}
			a.ID, a.CreatedAt = 5, at
			return db.Save(&a).Error
		}},
		{"mark as deleted", func(db *gorm.DB) error { return db.Delete(&note{}, 5).Error }},
		{"restore", func(db *gorm.DB) error {
			n := note{}
			n.ID = 5
			return db.Unscoped().Model(&n).Update("deleted_at", nil).Error
		}},
		{"delete for good", func(db *gorm.DB) error {
			return db.Unscoped().Delete(&note{}, 5).Error
		}},
		{"delete", func(db *gorm.DB) error {
			return db.Where("age < ?", 0).Delete(&author{}).Error
		}},
		{"delete a list of 1500", func(db *gorm.DB) error {
			return db.Where("id IN ?", many[:1500]).Delete(&author{}).Error
		}},
		{"call", func(db *gorm.DB) error { return db.Exec("CALL app_tidy(?)", 5).Error }},
	}
}

func schemas() []step {
	files := fstest.MapFS{
		"0001_things.sql": {Data: []byte(
			"CREATE TABLE ${prefix}things (id INTEGER NOT NULL PRIMARY KEY);")},
		"0002_rows.sql": {Data: []byte("INSERT INTO ${prefix}things (id) VALUES (1);")},
	}
	return []step{
		{"migrate", func(db *gorm.DB) error { return db.AutoMigrate(entities()...) }},
		{"migrate again", func(db *gorm.DB) error { return db.AutoMigrate(entities()...) }},
		{
			"migrate a later version",
			func(db *gorm.DB) error { return db.AutoMigrate(&noteAfter{}, &bookAfter{}) },
		},
		{"migrations", func(db *gorm.DB) error {
			return migrate.Apply(db.Statement.Context, db, files)
		}},
		{"rename", func(db *gorm.DB) error {
			m := db.Migrator()
			return errors.Join(m.RenameTable("app_notes", "app_memos"),
				m.RenameColumn(&author{}, "age", "years"))
		}},
		{"add", func(db *gorm.DB) error {
			m := db.Migrator()
			return errors.Join(m.AddColumn(&tag{}, "Rank"), m.CreateConstraint(&tag{}, "Level"),
				m.CreateIndex(&event{}, "Kind"))
		}},
		{"look", func(db *gorm.DB) error {
			m := db.Migrator()
			_, err := m.GetTables()
			m.HasColumn(&author{}, "Age")
			m.HasTable("other.things")
			return err
		}},
		{"drop", func(db *gorm.DB) error {
			m := db.Migrator()
			return errors.Join(m.DropColumn(&author{}, "email"), m.DropIndex(&event{}, "Kind"),
				m.DropConstraint(&author{}, "chk_app_authors_age"),
				m.DropTable(&author{}, &book{}))
		}},
	}
}

// foundOrNil returns nil for ErrRecordNotFound, because the double has no rows.
func foundOrNil(err error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	return err
}
