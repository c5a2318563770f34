package sqlserver_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// Entities like those of the conformance suite.
type (
	event struct {
		xmodels.BaseEntity
		Kind string    `gorm:"size:20;not null;index"`
		At   time.Time `gorm:"not null"`
		Body *string   `gorm:"size:2097152"`
	}

	parent struct {
		xmodels.BaseEntity
		Name string `gorm:"size:20;not null"`
	}

	child struct {
		xmodels.BaseEntity
		ParentID xsnowflake.SnowflakeID `gorm:"type:int;not null"`
		Parent   *parent                `gorm:"constraint:OnDelete:CASCADE"`
	}

	document struct {
		xmodels.BaseEntity
		Tags []string `gorm:"serializer:json"`
	}

	preset struct {
		xmodels.BaseEntity
		Name    string `gorm:"size:20;not null;default:nobody"`
		Score   int    `gorm:"not null;default:7"`
		Enabled *bool  `gorm:"not null;default:true"`
	}

	price struct {
		xmodels.BaseEntity
		Amount string `gorm:"type:decimal(20,4);not null"`
	}
)

// errorsOf joins the errors of statements, except gorm.ErrRecordNotFound.
func errorsOf(all ...*gorm.DB) error {
	var errs []error
	for _, db := range all {
		if !errors.Is(db.Error, gorm.ErrRecordNotFound) {
			errs = append(errs, db.Error)
		}
	}
	return errors.Join(errs...)
}

func TestStatements_Query(t *testing.T) {
	golden(t, "query", nil, func(db *gorm.DB) error {
		kinds := func() *gorm.DB { return db.Model(&event{}).Group("kind") }
		names := func(condition string, args ...any) *gorm.DB {
			return db.Model(&author{}).Where(condition, args...).Pluck("name", &[]string{})
		}
		var n int64
		var total *string
		var groups []struct {
			Kind  string
			Total int
		}
		const named = `SELECT name FROM authors WHERE name = @name OR age > @age AND name <> @name ORDER BY name`
		return errorsOf(
			kinds().Select("kind, COUNT(*) AS total").Having("COUNT(*) > ?",
				1).Order("kind DESC").Scan(&groups),
			kinds().Count(&n),
			db.Model(&event{}).Distinct("kind").Count(&n),
			db.Model(&event{}).Distinct().Order("kind").Limit(2).Offset(1).Pluck("kind",
				&[]string{}),
			db.Model(&event{}).Where("1 = 0").Select("SUM(id)").Scan(&total),
			db.Model(&price{}).Select("SUM(amount)").Scan(&total),
			names("name LIKE ?", "100%"), names("name LIKE ? ESCAPE '!'", "100!%%"),
			names("name NOT LIKE ?", "%a%b%"),
			db.Model(&author{}).Order("name").Where(map[string]any{"id": []int64{1, 2}}).Pluck(
				"name", &[]string{}),
			db.Model(&author{}).Order("name").Not(map[string]any{"id": []int64{1, 2}}).Pluck("name",
				&[]string{}),
			names("age > ? AND id NOT IN ? AND age < ?", 20, []int64{1, 2}, 90),
			db.Order("name").Find(&[]author{}, []int64{1, 2}),
			db.Raw(named, sql.Named("name", "a"), sql.Named("age", 21)).Scan(&[]string{}),
			db.Raw(named, map[string]any{"name": "a", "age": 21}).Scan(&[]string{}),
			db.Exec("UPDATE authors SET age = @age WHERE name IN @names",
				sql.Named("age", 50), sql.Named("names", []string{"a", "b"})),
			db.Model(&author{}).Select("id", "name").Where("name = ?", "b").Take(&map[string]any{}),
			db.Model(&author{}).Select("authors.name AS writer_name", "authors.age + 1 AS next_age",
				"b.title AS book_title").
				Joins("LEFT JOIN books b ON b.author_id = authors.id").Order("authors.name").Scan(
				&[]struct{ WriterName string }{}),
			db.Model(&author{}).Where("id IN (?)",
				db.Model(&book{}).Select("author_id")).Find(&[]struct{ Name string }{}),
			db.Model(&kindsOfColumns{}).Where("yes = ?", true).Or("yes = ?", false).Count(&n),
			db.Where("maybe IS NULL AND data IS NULL").First(&kindsOfColumns{}, "code = ?", "x"),
			db.Joins("Parent").Find(&[]child{}),
			db.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).Where("id IN ?",
				[]int64{1}).Order("id DESC").Find(&[]account{}),
			db.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).First(&account{}, 1),
		)
	})
}

func TestStatements_Page(t *testing.T) {
	columns := []tdsColumn{tdsBigInt("id"), tdsNVarChar("kind")}
	full := tdsReply{Columns: columns, Rows: [][]any{{int64(3), "a"}, {int64(4), "a"}}}
	pages := 0
	respond := func(r tdsRequest) (tdsReply, bool) {
		if strings.HasPrefix(r.SQL, "SELECT count(*)") {
			return tdsReply{Columns: columns[:1], Rows: [][]any{{int64(57)}}}, true
		}
		if !strings.HasPrefix(r.SQL, `SELECT * FROM "events"`) {
			return tdsReply{}, false
		}
		pages++
		return full, pages%2 == 1 // the first page of each list
	}
	golden(t, "page", respond, func(db *gorm.DB) error {
		first, err := xmodels.Keyset[event](db.Where("id > ?", 0), xmodels.KeysetRequest{Size: 1},
			xmodels.SortBy("kind"))
		if err != nil {
			return err
		}
		_, next := xmodels.Keyset[event](db.Where("id > ?", 0),
			xmodels.KeysetRequest{Size: 1, After: first.Next}, xmodels.SortBy("kind"))
		batches := db.FindInBatches(&[]event{}, 2, func(*gorm.DB, int) error { return nil })
		_, numbered := xmodels.Paginate[event](db,
			xmodels.PageRequest{Page: 3, Size: 10, Sort: "desc"}, xmodels.SortBy("kind"))
		return errors.Join(next, numbered, readRows(db), batches.Error)
	})
}

// readRows reads rows one by one.
func readRows(db *gorm.DB) (err error) {
	rows, err := db.Model(&event{}).Select("id", "kind").Order("id").Rows()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := db.ScanRows(rows, &event{}); err != nil {
			return err
		}
	}
	return rows.Err()
}

func TestStatements_Write(t *testing.T) {
	found := when(`SELECT * FROM "authors" ORDER BY name`, tdsReply{
		Columns: []tdsColumn{tdsBigInt("id")}, Rows: [][]any{{int64(1)}, {int64(2)}},
	})
	golden(t, "write", found, func(db *gorm.DB) error {
		saved := []note{{Text: "changed"}, {Text: "new"}}
		saved[0].ID = 4711
		row, large := kindsOfColumns{Code: "x"}, strings.Repeat("x", 4001)
		none, empty := kindsOfColumns{Code: "none"}, kindsOfColumns{Code: "empty", Data: []byte{}}
		all := []author{{Name: "a", Age: 1}, {Name: "c", Age: 3}}
		all[0].ID = 1
		doc := document{Tags: []string{"größe", `a"b`}}
		doc.ID = 9
		off := false
		return errorsOf(
			db.Save(&saved),
			db.Where(author{Name: "found"}).FirstOrCreate(&author{}),
			db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&all),
			db.Create([]*kindsOfColumns{&none, &empty}),
			db.Model(&row).Updates(map[string]any{"maybe": nil, "data": nil}),
			db.Model(&kindsOfColumns{}).Where("yes = ?", false).Update("yes", true),
			db.Model(&author{}).Where("id = ?", 1).Updates(map[string]any{"age": 77, "email": "x"}),
			db.Model(&note{}).Where("text = ?", "a").UpdateColumn("text", "A1"),
			db.Where("text = ?", "b").Delete(&note{}),
			db.Delete(&author{}, "id IN ?", []int64{1, 2}),
			db.Create(&doc),
			db.Model(&doc).Select("tags").Updates(&document{Tags: nil}),
			db.Create([]*preset{{}, {Name: "given", Score: 1, Enabled: &off}}),
			db.Create(&preset{}),
			db.Create(&price{Amount: "9999999999999999.9999"}),
			db.Model(&price{}).Where("id = ?", 1).Update("amount", gorm.Expr("amount - 0.0001")),
			db.Create(&event{Kind: "large", At: time.Unix(0, 0), Body: &large}),
			db.Preload("Books").Order("name").Find(&[]author{}),
			db.Create([]*child{{ParentID: 1}, {Parent: &parent{Name: "new"}}}),
		)
	})
}
