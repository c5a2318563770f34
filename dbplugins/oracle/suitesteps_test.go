package oracle_test

import (
	"database/sql"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/major/xmodels"
)

// suites contains the statements of the conformance suite that the other files do not
// cover.
func suites() []step {
	return append(append(suiteReads(), suiteParameters()...), suiteWrites()...)
}

func suiteReads() []step {
	var n int64
	var texts []string
	return []step{
		{"select columns into maps", func(db *gorm.DB) error {
			return db.Model(&author{}).Select("id", "name", "age",
				"email").Order("name").Find(&[]map[string]any{}).Error
		}},
		{"take a map", func(db *gorm.DB) error {
			return foundOrNil(db.Model(&author{}).Select("id", "name").Where("name = ?",
				"b").Take(&map[string]any{}).Error)
		}},
		{"group, having and order", func(db *gorm.DB) error {
			tx := db.Model(&event{}).Group("kind").Select("kind, COUNT(*) AS total").Having(
				"COUNT(*) > ?", 1)
			return tx.Order("kind DESC").Scan(&[]struct{ Total int }{}).Error
		}},
		{"distinct, ordered, limit and offset", func(db *gorm.DB) error {
			return db.Model(&event{}).Distinct().Order("kind").Limit(2).Offset(1).Pluck("kind",
				&texts).Error
		}},
		{"sum", func(db *gorm.DB) error {
			return db.Model(&event{}).Where("1 = 0").Select("SUM(id)").Scan(new(*int64)).Error
		}},
		{"aliases of a join", func(db *gorm.DB) error {
			return db.Model(&author{}).
				Select("app_authors.name AS writer_name", "app_authors.age + 1 AS next_age",
					"b.title AS book_title").
				Joins("LEFT JOIN app_books b ON b.author_id = app_authors.id").
				Order("app_authors.name").Scan(&[]struct{ WriterName string }{}).Error
		}},
		{"some columns, a subquery", func(db *gorm.DB) error {
			books := db.Model(&book{}).Select("author_id")
			return db.Model(&author{}).Where("id IN (?)",
				books).Find(&[]struct{ Name string }{}).Error
		}},
		{"like with an escape", func(db *gorm.DB) error {
			return db.Model(&author{}).Where("name LIKE ? ESCAPE '!'", "100!%%").Pluck("name",
				&texts).Error
		}},
		{"not like", func(db *gorm.DB) error {
			return db.Model(&author{}).Where("name NOT LIKE ?", "%a%b%").Pluck("name", &texts).Error
		}},
		{"null and a key", func(db *gorm.DB) error {
			return foundOrNil(
				db.Where("maybe_at IS NULL AND data IS NULL").First(&sample{}, 5).Error)
		}},
		{"booleans", func(db *gorm.DB) error {
			return db.Model(&sample{}).Where("active = ?", true).Or("maybe_on = ?",
				false).Count(&n).Error
		}},
		{"range of times", func(db *gorm.DB) error {
			return db.Model(&event{}).Where("id = ? AND at >= ? AND at < ?",
				5, at, at).Count(&n).Error
		}},
		{"page with a count", func(db *gorm.DB) error {
			_, err := xmodels.Paginate[event](db, xmodels.PageRequest{Page: 1, Size: 10},
				xmodels.SortBy("kind"))
			return err
		}},
		{"deleted too", func(db *gorm.DB) error {
			return foundOrNil(db.Unscoped().First(&note{}, 5).Error)
		}},
		{"rows of some columns", func(db *gorm.DB) error {
			rows, err := db.Model(&event{}).Select("id", "kind").Order("id").Rows()
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			return rows.Err()
		}},
		{"one row of an order, locked", func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error {
				return tx.Clauses(lock).Where("id = ?",
					5).Order("balance").Limit(1).Find(&account{}).Error
			})
		}},
	}
}

func suiteParameters() []step {
	var texts []string
	query := "SELECT name FROM app_authors WHERE name = @name OR age > @age AND name <> @name ORDER BY name"
	ids := many[:1500]
	return []step{
		{"named parameters", func(db *gorm.DB) error {
			return db.Raw(query, sql.Named("name", "a"), sql.Named("age", 21)).Scan(&texts).Error
		}},
		{"named parameters of a map", func(db *gorm.DB) error {
			return db.Raw(query, map[string]any{"name": "a", "age": 21}).Scan(&texts).Error
		}},
		{"named parameters of a change", func(db *gorm.DB) error {
			names := sql.Named("names", []string{"a", "b"})
			return db.Exec("UPDATE app_authors SET age = @age WHERE name IN @names",
				sql.Named("age", 50), names).Error
		}},
		{"a long list among conditions", func(db *gorm.DB) error {
			return db.Where("age > ? AND id IN ? AND age < ?", 20, ids, 90).Find(&[]author{}).Error
		}},
		{"no long list", func(db *gorm.DB) error {
			return db.Where("id NOT IN ?", ids).Find(&[]author{}).Error
		}},
		{"a long list of a map", func(db *gorm.DB) error {
			return db.Where(map[string]any{"id": ids}).Find(&[]author{}).Error
		}},
		{"keys", func(db *gorm.DB) error { return db.Order("name").Find(&[]author{}, ids).Error }},
		{"delete by a list", func(db *gorm.DB) error {
			return db.Delete(&author{}, "id IN ?", ids).Error
		}},
	}
}

func suiteWrites() []step {
	savedNotes := func() []note {
		all := []note{{Text: "kept"}, {Text: "new"}}
		all[0].ID, all[0].CreatedAt = 5, at
		return all
	}
	return []step{
		{"every type", func(db *gorm.DB) error {
			return db.Create(&sample{Active: true, Natural: 1<<63 - 1, Data: []byte{1}}).Error
		}},
		{"defaults", func(db *gorm.DB) error {
			return db.Create([]*preset{{}, {Name: "given", Enabled: new(bool)}}).Error
		}},
		{"one default", func(db *gorm.DB) error { return db.Create(&preset{}).Error }},
		{"updates with nil", func(db *gorm.DB) error {
			return db.Model(&sample{}).Where("id = ?",
				5).Updates(map[string]any{"maybe_at": nil, "data": nil}).Error
		}},
		{"updates of some fields", func(db *gorm.DB) error {
			return db.Model(&document{}).Where("id = ?",
				5).Select("tags").Updates(&document{Tags: []string{"x"}}).Error
		}},
		{"update a boolean", func(db *gorm.DB) error {
			return db.Model(&sample{}).Where("active = ?", false).Update("active", true).Error
		}},
		{"update a column", func(db *gorm.DB) error {
			return db.Model(&account{}).Where("id = ?", 5).UpdateColumn("balance",
				gorm.Expr("balance + ?", 1)).Error
		}},
		{"update without binds", func(db *gorm.DB) error {
			return db.Model(&tag{}).Where("id = ?", 5).Update("price",
				gorm.Expr("price - 0.0001")).Error
		}},
		{"own update", func(db *gorm.DB) error {
			return db.Exec("UPDATE app_notes SET deleted_at = NULL WHERE id > ?", 0).Error
		}},
		{"save a slice", func(db *gorm.DB) error {
			all := savedNotes()
			return db.Save(&all).Error
		}},
		{"update all of a batch", func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(
				[]*author{named("a"), named("b")}).Error
		}},
		{"upsert with a value", func(db *gorm.DB) error {
			set := clause.Assignments(map[string]any{"age": 99})
			return db.Clauses(clause.OnConflict{Columns: onName, DoUpdates: set}).Create(
				named("a")).Error
		}},
		{"insert or leave a batch by a column", func(db *gorm.DB) error {
			c := clause.OnConflict{Columns: onName, DoNothing: true}
			return db.Clauses(c).Create([]*author{named("a"), named("b")}).Error
		}},
	}
}

// keyset reads two pages, for which the double needs rows.
func keyset() step {
	return step{"pages by key", func(db *gorm.DB) error {
		for _, sort := range []string{"asc", "desc"} {
			request := xmodels.KeysetRequest{Size: 1, Sort: sort}
			for range 2 {
				page, err := xmodels.Keyset[event](db.Where("id > ?", 0), request,
					xmodels.SortBy("at", "kind"))
				if err != nil {
					return err
				}
				request.After = page.Next
			}
		}
		return nil
	}}
}
