package dbtest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xerror"
)

var writeCases = []testCase{
	{"Write/upserts a batch", testUpsertBatch},
	{"Write/upserts by primary key", testUpsertKey},
	{"Write/Save creates or updates", testSave},
	{"Write/RowsAffected counts matched rows", testRowsAffected},
	{"Write/serializable isolation loses no update", testSerializable},
}

func wantAges(tb testing.TB, db *gorm.DB, want string) {
	var all []author
	check(tb, db.Order("name").Find(&all).Error, "read")
	got := make([]string, len(all))
	for i, a := range all {
		got[i] = fmt.Sprintf("%s:%d", a.Name, a.Age)
	}
	if text := fmt.Sprint(got); text != want {
		tb.Errorf("authors = %s, want %s", text, want)
	}
}

func testUpsertBatch(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	first := createAuthors(tb, db, "a", "b")
	byName := []clause.Column{{Name: "name"}}
	rows := []author{
		{Name: "a", Age: 1},
		{Name: "c", Age: 3},
		{Name: "b", Age: 2},
		{Name: "d", Age: 4},
	}
	check(tb, db.Clauses(clause.OnConflict{
		Columns:   byName,
		DoUpdates: clause.AssignmentColumns([]string{"age"}),
	}).Create(&rows).Error, "upsert")
	wantAges(tb, db, "[a:1 b:2 c:3 d:4]")

	rows = []author{{Name: "e", Age: 5}, {Name: "a", Age: 90}, {Name: "f", Age: 6}}
	check(tb, db.Clauses(clause.OnConflict{Columns: byName, DoNothing: true}).Create(&rows).Error,
		"insert or skip")
	wantAges(tb, db, "[a:1 b:2 c:3 d:4 e:5 f:6]")

	check(tb, db.Clauses(clause.OnConflict{
		Columns:   byName,
		DoUpdates: clause.Assignments(map[string]any{"age": 99}),
	}).Create(&author{Name: "f", Age: 7}).Error, "upsert with a value")
	wantAges(tb, db, "[a:1 b:2 c:3 d:4 e:5 f:99]")

	var got author
	check(tb, db.First(&got, "name = ?", "a").Error, "read")
	if got.ID != first[0].ID || !got.CreatedAt.Equal(first[0].CreatedAt) {
		tb.Errorf("the upsert changed the key %d to %d, or the creation time",
			first[0].ID, got.ID)
	}
	bad := []author{{Name: "g", Age: 1}, {Name: "a", Age: -1}}
	err := db.Clauses(clause.OnConflict{
		Columns:   byName,
		DoUpdates: clause.AssignmentColumns([]string{"age"}),
	}).Create(&bad).Error
	if codeOf(err) != xerror.IntegrityError {
		tb.Errorf("an upsert that violates a check = %v, want the code %v",
			err, xerror.IntegrityError)
	}
	wantAges(tb, db, "[a:1 b:2 c:3 d:4 e:5 f:99]")
}

func testUpsertKey(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	first := createAuthors(tb, db, "a", "b")
	changed := []author{{Name: "A2", Age: 31}, {Name: "c", Age: 3}}
	changed[0].ID = first[0].ID
	check(tb, db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&changed).Error,
		"upsert all columns")
	wantAges(tb, db, "[A2:31 b:21 c:3]")

	again := author{Name: "other", Age: 1}
	again.ID = first[1].ID
	check(tb, db.Clauses(clause.OnConflict{DoNothing: true}).Create(&again).Error,
		"insert or skip")
	wantAges(tb, db, "[A2:31 b:21 c:3]")
}

func testSave(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	n := note{Text: "saved"}
	n.ID = 4711
	for range 2 { // the second Save changes nothing
		check(tb, db.Save(&n).Error, "save")
		wantNotes(tb, db, "saved")
	}
	n.Text = "changed"
	check(tb, db.Save(&n).Error, "save")
	wantNotes(tb, db, "changed")
	all := []note{n, {Text: "new"}}
	all[0].Text = "changed again"
	check(tb, db.Save(&all).Error, "save a slice")
	var got []string
	check(tb, db.Model(&note{}).Order("text").Pluck("text", &got).Error, "read")
	if want := []string{"changed again", "new"}; !slices.Equal(got, want) {
		tb.Errorf("values = %q, want %q", got, want)
	}
}

func testRowsAffected(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	check(tb, db.Create([]*note{{Text: "a"}, {Text: "b"}, {Text: "b"}}).Error, "create")
	for _, tc := range []struct {
		name string
		tx   *gorm.DB
		want int64
	}{
		{"changed value", db.Model(&note{}).Where("text = ?", "a").UpdateColumn("text", "A1"), 1},
		{
			"unchanged value",
			db.Model(&note{}).Where("text = ?", "A1").UpdateColumn("text", "A1"), 1,
		},
		{"no row", db.Model(&note{}).Where("text = ?", "z").UpdateColumn("text", "A1"), 0},
		{"every row", db.Exec("UPDATE "+s.prefix+"notes SET deleted_at = NULL WHERE id > ?", 0), 3},
		{"delete", db.Where("text = ?", "b").Delete(&note{}), 2},
		{"insert", db.Create([]*note{{Text: "c"}, {Text: "d"}}), 2},
		{"read", db.Find(&[]note{}), 3},
	} {
		if tc.tx.Error != nil || tc.tx.RowsAffected != tc.want {
			tb.Errorf("%s: rows = %d (%v), want %d",
				tc.name, tc.tx.RowsAffected, tc.tx.Error, tc.want)
		}
	}
}

func testSerializable(tb testing.TB, s *suite) {
	db := s.open(tb, &account{})
	a := account{}
	check(tb, db.Create(&a).Error, "create")
	const writers = 4
	check(tb, firstError(inParallel(writers, func(int) error {
		for range 50 {
			err := db.Transaction(func(tx *gorm.DB) error {
				var mine account
				if err := tx.First(&mine, a.ID).Error; err != nil {
					return err
				}
				pause(time.Millisecond)
				return tx.Model(&account{}).Where("id = ?", a.ID).
					UpdateColumn("balance", mine.Balance+1).Error
			}, &sql.TxOptions{Isolation: sql.LevelSerializable})
			if err == nil {
				return nil
			}
			if !isConflict(err) {
				return fmt.Errorf("unexpected error (%s): %w", codeOf(err).GetOutput(), err)
			}
		}
		return errors.New("50 conflicts in a row")
	})), "read and write")
	wantBalance(tb, db, a.ID, writers)
}
