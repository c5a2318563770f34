package sqlserver_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// Entities like those of the conformance suite.
type (
	author struct {
		xmodels.BaseEntity
		Name  string  `gorm:"size:64;not null;uniqueIndex"`
		Email *string `gorm:"size:64"`
		Age   int     `gorm:"not null;check:age >= 0"`
		Books []book  `gorm:"foreignKey:AuthorID;constraint:OnDelete:RESTRICT"`
	}

	book struct {
		xmodels.BaseEntity
		Title    string                 `gorm:"size:100;not null"`
		AuthorID xsnowflake.SnowflakeID `gorm:"type:int;not null;index"`
	}

	note struct {
		xmodels.BaseEntityWithSoftDelete
		Text string `gorm:"size:200"`
	}

	account struct {
		xmodels.BaseEntity
		Balance int64 `gorm:"not null"`
		Version xmodels.Version
	}

	counter struct { // the server generates its key
		ID   int64
		Name string    `gorm:"uniqueIndex"`
		At   time.Time `gorm:"precision:3"`
	}

	kindsOfColumns struct {
		Code    string `gorm:"primaryKey"`
		Small   int8
		Byte    uint8
		Word    int16
		Wide    uint16
		Int     int32
		Big     uint32
		Whole   int64
		Huge    uint64
		Ratio   float64
		Price   float64 `gorm:"precision:20;scale:4"`
		Money   string  `gorm:"type:decimal(20,4)"`
		Yes     bool
		Data    []byte
		Text    string
		Long    string `gorm:"size:4001"`
		At      time.Time
		Maybe   *time.Time
		Deleted gorm.DeletedAt
	}
)

// golden compares the statements that do sends with a golden file.
func golden(
	t *testing.T, name string, respond func(tdsRequest) (tdsReply, bool),
	do func(db *gorm.DB) error,
) {
	t.Helper()
	s := startDouble(t, respond)
	db, _ := open(t, s, xdb.Options{})
	s.Reset()
	if err := do(db); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	ids := map[int64]int{}
	for _, r := range requests(s) {
		b.WriteString(formatRequest(r, ids))
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("statements differ from %s; use -update to rewrite it:\n%s", file, got)
	}
}

// spaces matches the indentation of the library's statements.
var spaces = regexp.MustCompile(`\s+`)

// formatRequest formats a request for a golden file. IDs and times change in each run, so
// IDs are numbered. Long values are hashed.
func formatRequest(r tdsRequest, ids map[int64]int) string {
	if r.Kind == tdsBegin {
		return fmt.Sprintf("-- begin %d\n", r.Level)
	}
	if r.SQL == "" {
		return "-- " + string(r.Kind) + "\n"
	}
	sql := strings.TrimSpace(spaces.ReplaceAllString(r.SQL, " "))
	if len(sql) > 1200 {
		sql = fmt.Sprintf("%s … %d times \"),(\" … %s (%s)",
			sql[:130], strings.Count(sql, "),("), sql[len(sql)-50:], hash(sql))
	}
	var params strings.Builder
	for _, p := range r.Params {
		fmt.Fprintf(&params, "\t%s %s = %s\n", p.Name, p.Type, formatValue(p.Value, ids))
	}
	if n := len(r.Params); n > 40 {
		return fmt.Sprintf("%s\n\t%d parameters (%s)\n", sql, n, hash(params.String()))
	}
	return sql + "\n" + params.String()
}

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:12] }

// formatValue formats the value of a parameter.
func formatValue(value any, ids map[int64]int) string {
	switch v := value.(type) {
	case int64:
		if v < 1<<53 || v > 1<<62 {
			break // not a generated ID
		}
		if _, known := ids[v]; !known {
			ids[v] = len(ids) + 1
		}
		return fmt.Sprintf("id%d", ids[v])
	case time.Time:
		if time.Since(v) < time.Hour {
			return "now in " + v.Format("-07:00")
		}
	}
	text := fmt.Sprint(value)
	if len(text) > 80 {
		return fmt.Sprintf("%d bytes (%s)", len(text), hash(text))
	}
	return text
}

func TestStatements_Schema(t *testing.T) {
	golden(t, "schema", nil, func(db *gorm.DB) error {
		return db.AutoMigrate(&author{}, &book{}, &note{}, &account{}, &counter{},
			&kindsOfColumns{}, &event{}, &parent{}, &child{}, &document{}, &preset{}, &price{})
	})
}

func named(n int) []author {
	rows := make([]author, n)
	for i := range rows {
		rows[i].Name = fmt.Sprintf("name %d", i)
	}
	return rows
}

func TestStatements_Insert(t *testing.T) {
	keys := func(r tdsRequest) (tdsReply, bool) {
		columns := []tdsColumn{tdsBigInt("id")}
		if !strings.Contains(r.SQL, "plinth_row") {
			return tdsReply{Columns: columns, Rows: [][]any{{int64(7)}}},
				strings.Contains(r.SQL, "OUTPUT")
		}
		// in reverse order, as a server may return rows
		columns = append(columns, tdsBigInt("plinth_row"))
		return tdsReply{
			Columns: columns,
			Rows:    [][]any{{int64(12), int64(1)}, {int64(11), int64(0)}},
		}, true
	}
	golden(t, "insert", keys, func(db *gorm.DB) error {
		single := author{Name: "a", Books: []book{{Title: "one"}, {Title: "two"}}}
		one, two := counter{Name: "one"}, []*counter{{Name: "two"}, {Name: "three"}}
		preset := counter{ID: 42, Name: "preset"}
		maps := []map[string]any{{"name": "m1"}, {"name": "m2"}}
		err := errors.Join(
			db.Create(&single).Error,
			db.Create(&one).Error,
			db.Create(two).Error,
			db.Create(&preset).Error,
			db.Model(&counter{}).Create(maps).Error, // maps receive no keys
			db.Model(&author{}).Create(
				map[string]any{"id": 1, "name": gorm.Expr("UPPER(?)", "x")}).Error,
		)
		if one.ID != 7 || two[0].ID != 11 || two[1].ID != 12 {
			t.Errorf("keys = %d, %d, %d, want 7, 11, 12", one.ID, two[0].ID, two[1].ID)
		}
		return err
	})
}

func TestStatements_Batches(t *testing.T) {
	golden(t, "batches", nil, func(db *gorm.DB) error {
		rows := named(1500)
		result := db.CreateInBatches(rows, 1000)
		ids := make([]int64, 1500)
		tx := db.Session(&gorm.Session{SkipDefaultTransaction: true})
		return errors.Join(
			result.Error,
			tx.Create(named(400)).Error,
			db.Where("id IN ?", ids).Find(&[]note{}).Error,
		)
	})
}

func TestStatements_Upsert(t *testing.T) {
	golden(t, "upsert", nil, func(db *gorm.DB) error {
		onName := []clause.Column{{Name: "name"}}
		age := clause.AssignmentColumns([]string{"age", "updated_at"})
		where := clause.Where{Exprs: []clause.Expression{gorm.Expr("? < ?",
			clause.Column{Table: clause.CurrentTable, Name: "age"},
			clause.Column{Table: "excluded", Name: "age"})}}
		two := []author{{Name: "one", Age: 10}, {Name: "two", Age: 20}}
		preset := author{Name: "preset"}
		preset.ID = 1
		return errors.Join(
			db.Clauses(clause.OnConflict{Columns: onName, DoUpdates: age}).Create(&two).Error,
			db.Clauses(clause.OnConflict{Columns: onName, DoNothing: true}).Create(
				&author{Name: "two"}).Error,
			db.Clauses(clause.OnConflict{DoNothing: true}).Create(&author{Name: "any"}).Error,
			db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&author{Name: "all"}).Error,
			db.Clauses(clause.OnConflict{Columns: onName, DoUpdates: age, Where: where}).Create(
				&author{Name: "older", Age: 1}).Error,
			db.Clauses(clause.OnConflict{
				Columns: onName,
				DoUpdates: clause.Assignments(map[string]any{"age": gorm.Expr("? + 1",
					clause.Column{Table: clause.CurrentTable, Name: "age"})}),
			}).Create(&author{Name: "count", Age: 1}).Error,
			db.Clauses(clause.OnConflict{DoNothing: true}).Create(&counter{Name: "counted"}).Error,
			db.Clauses(clause.OnConflict{UpdateAll: true}).Create(
				&counter{Name: "no key, so no conflict"}).Error,
			db.Clauses(clause.OnConflict{UpdateAll: true}).Create(
				&counter{ID: 5, Name: "keyed"}).Error,
			db.Save(&preset).Error,
		)
	})
}

func TestStatements_Read(t *testing.T) {
	golden(t, "read", nil, func(db *gorm.DB) error {
		var n note
		var notes []note
		limited := db.Model(&book{}).Select("author_id").Limit(3)
		for _, read := range []*gorm.DB{
			db.First(&n, 1), db.Take(&n), db.Last(&n), // no row is found
			db.Limit(5).Find(&notes), db.Limit(5).Offset(10).Find(&notes),
			db.Offset(10).Find(&notes), db.Limit(0).Find(&notes),
			db.Offset(9223372036854775600).Limit(200).Order("id").Find(&notes),
			db.Model(&author{}).Distinct("name").Limit(2).Find(&[]author{}),
			db.Model(&author{}).Select("age, count(*)").Group("age").Limit(2).Find(&[]author{}),
			db.Where("id IN (?)", limited).Find(&[]author{}),
			db.Where("text = ? AND id IN ?", "x", []int64{1, 2}).Find(&notes),
			db.Table(`odd"name`).Where(map[string]any{`col"umn`: true}).Find(&[]map[string]any{}),
		} {
			if read.Error != nil && !errors.Is(read.Error, gorm.ErrRecordNotFound) {
				return read.Error
			}
		}
		return nil
	})
}

func TestStatements_Lock(t *testing.T) {
	golden(t, "lock", nil, func(db *gorm.DB) error {
		lock := func(strength, options string) clause.Locking {
			return clause.Locking{Strength: strength, Options: options}
		}
		mainTable := lock("UPDATE", "")
		mainTable.Table = clause.Table{Name: clause.CurrentTable}
		var notes []note
		var books []book
		return errors.Join(
			db.Clauses(lock("UPDATE", "")).Where("id = ?", 1).Find(&notes).Error,
			db.Clauses(lock("UPDATE", "SKIP LOCKED")).Order("id").Limit(1).Find(&notes).Error,
			db.Clauses(lock("NO KEY UPDATE", "SKIP LOCKED")).Find(&notes).Error,
			db.Clauses(lock("SHARE", "SKIP LOCKED")).Find(&notes).Error,
			db.Clauses(lock("UPDATE", "NOWAIT")).Find(&notes).Error,
			db.Clauses(lock("SHARE", "")).Find(&notes).Error,
			db.Clauses(mainTable).Find(&notes).Error,
			db.Clauses(lock("UPDATE", "")).Joins(
				`JOIN "authors" ON "authors"."id" = "books"."author_id"`).Find(&books).Error,
			db.Table("books AS b").Clauses(mainTable).Joins(
				"LEFT JOIN authors a ON a.id = b.author_id").Find(&books).Error,
		)
	})
}

func TestDialector_LockErrors(t *testing.T) {
	s := startDouble(t, nil)
	db, _ := open(t, s, xdb.Options{})
	s.Reset()
	for _, lock := range []clause.Locking{
		{Strength: "ACCESS SHARE"},
		{Strength: "UPDATE", Options: "WAIT 5"},
		{Strength: "UPDATE", Table: clause.Table{Name: "authors"}},
	} {
		if err := db.Clauses(lock).Find(&[]note{}).Error; err == nil ||
			!strings.Contains(err.Error(), "clause.Locking") {
			t.Errorf("Find with %+v = %v, want an error", lock, err)
		}
	}
	on := clause.OnConflict{OnConstraint: "uq_name", DoNothing: true}
	if err := db.Clauses(on).Create(&author{Name: "x"}).Error; err == nil ||
		!strings.Contains(err.Error(), "clause.OnConflict") {
		t.Errorf("Create with %+v = %v, want an error", on, err)
	}
	for _, r := range s.Requests() {
		if r.SQL != "" {
			t.Errorf("%s was sent", r.SQL)
		}
	}
}

func TestStatements_Change(t *testing.T) {
	golden(t, "change", nil, func(db *gorm.DB) error {
		n, a := note{Text: "x"}, account{Balance: 1, Version: 3}
		n.ID, a.ID = 1, 1
		return errors.Join(
			db.Delete(&n).Error,
			db.Unscoped().Model(&n).Update("deleted_at", nil).Error,
			db.Unscoped().Delete(&note{}, 1).Error,
			db.Save(&a).Error,
			db.Model(&account{}).Where("id = ?", 1).Update("balance",
				gorm.Expr("balance + ?", 1)).Error,
			db.Model(&counter{ID: 1}).Updates(counter{ID: 1, Name: "x"}).Error,
			db.Model(&note{}).Clauses(clause.Returning{}).Where("id = ?", 1).Update("text",
				"y").Error,
		)
	})
}

func TestStatements_Transaction(t *testing.T) {
	golden(t, "transaction", nil, func(db *gorm.DB) error {
		boom := errors.New("boom")
		err := db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(
				tx.Exec("UPDATE a SET x = 1").Error,
				tx.SavePoint("half").Error,
				tx.Exec("UPDATE b SET x = 1").Error,
				tx.RollbackTo("half").Error,
			)
		})
		rolledBack := db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(boom, tx.Exec("UPDATE c SET x = 1").Error)
		})
		if !errors.Is(rolledBack, boom) {
			t.Errorf("Transaction = %v, want %v", rolledBack, boom)
		}
		return err
	})
}
