package dbtest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

var dataCases = []testCase{
	{"Data/IDs up to the largest", testLargeIDs},
	{"Data/every write assigns IDs", testIDs},
	{"Data/keeps preset IDs and times", testPreset},
	{"Data/soft delete and restore", testSoftDelete},
	{"Data/optimistic lock detects a conflict", testVersion},
	{"Data/offset pages are stable", testPages},
	{"Data/keyset pages return every row once", testKeyset},
	{"Data/upsert updates or skips", testUpsert},
	{"Data/times are UTC with microseconds", testTimes},
	{"Data/strings are stored unchanged", testTexts},
	{"Data/empty text is not NULL", testEmptyText},
}

func testLargeIDs(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	for _, id := range []xsnowflake.SnowflakeID{
		1, 1<<53 + 1, 1 << 62, math.MaxInt64 - 1, math.MaxInt64,
	} {
		n := note{Text: id.String()}
		n.ID = id
		check(tb, db.Create(&n).Error, "create")
		var got note
		if err := db.First(&got, id).Error; err != nil || got.ID != id || got.Text != id.String() {
			tb.Errorf("id %d came back as %d (%v)", id, got.ID, err)
		}
	}
	var first []xsnowflake.SnowflakeID
	check(tb, db.Model(&note{}).Order("id DESC").Limit(1).Pluck("id", &first).Error, "pluck")
	if len(first) != 1 || first[0] != math.MaxInt64 {
		tb.Errorf("largest = %v, want %d", first, int64(math.MaxInt64))
	}
}

func testIDs(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	single := author{Name: "single", Books: []book{{Title: "one"}, {Title: "two"}}}
	check(tb, db.Create(&single).Error, "create with association")
	batch := []author{{Name: "b1"}, {Name: "b2"}}
	check(tb, db.Create(&batch).Error, "create batch")
	pointers := []*author{{Name: "p1"}, {Name: "p2"}, {Name: "p3"}}
	check(tb, db.CreateInBatches(pointers, 2).Error, "create batch of pointers")
	saved := author{Name: "saved"}
	check(tb, db.Save(&saved).Error, "save")
	var found author
	check(tb, db.Where(author{Name: "found"}).FirstOrCreate(&found).Error, "first or create")

	all := []author{
		single, batch[0], batch[1], *pointers[0], *pointers[1], *pointers[2], saved, found,
	}
	seen := map[xsnowflake.SnowflakeID]bool{}
	for _, a := range all {
		if a.ID.IsZero() || seen[a.ID] || a.ID.Gene() != xsnowflake.GeneUser {
			tb.Errorf("%s: id = %d with gene %v, want a new ID with the gene of users",
				a.Name, a.ID, a.ID.Gene())
		}
		seen[a.ID] = true
		if err := db.First(&author{}, a.ID).Error; err != nil {
			tb.Errorf("%s: %v", a.Name, err)
		}
	}
	for _, b := range single.Books {
		if b.ID.IsZero() || b.ID.Gene() != xsnowflake.GeneFile || b.AuthorID != single.ID {
			tb.Errorf("book %q: id %d, author %d, want an id and author %d",
				b.Title, b.ID, b.AuthorID, single.ID)
		}
	}
}

func testPreset(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	at := time.Date(2001, 2, 3, 4, 5, 6, 789000, time.UTC)
	n := note{Text: "preset"}
	n.ID, n.CreatedAt, n.UpdatedAt = 4711, at, at
	check(tb, db.Create(&n).Error, "create")
	var got note
	check(tb, db.First(&got, 4711).Error, "read")
	if !got.CreatedAt.Equal(at) || !got.UpdatedAt.Equal(at) {
		tb.Errorf("times = %v, %v, want %v", got.CreatedAt, got.UpdatedAt, at)
	}
}

func testSoftDelete(tb testing.TB, s *suite) {
	db := s.open(tb, &note{})
	n := note{Text: "x"}
	check(tb, db.Create(&n).Error, "create")
	check(tb, db.Delete(&n).Error, "delete")
	if err := db.First(&note{}, n.ID).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		tb.Errorf("a deleted row is found: %v", err)
	}
	var marked note
	check(tb, db.Unscoped().First(&marked, n.ID).Error, "read unscoped")
	if !marked.DeletedAt.Valid {
		tb.Error("deleted_at is not set")
	}
	check(tb, db.Unscoped().Model(&marked).Update("deleted_at", nil).Error, "restore")
	check(tb, db.First(&note{}, n.ID).Error, "read the restored row")
	check(tb, db.Unscoped().Delete(&note{}, n.ID).Error, "delete permanently")
	if got := count(tb, db.Unscoped(), &note{}); got != 0 {
		tb.Errorf("rows = %d, want 0", got)
	}
}

func testVersion(tb testing.TB, s *suite) {
	db := s.open(tb, &account{})
	a := account{Balance: 10}
	check(tb, db.Create(&a).Error, "create")
	mine, theirs := a, a
	check(tb, db.Model(&theirs).Update("balance", 20).Error, "their update")
	mine.Balance = 30
	err := db.Save(&mine).Error
	if !errors.Is(err, xerror.OptimisticLock) || codeOf(err) != xerror.OptimisticLock {
		tb.Errorf("my update = %v, want OPTIMISTIC_LOCK", err)
	}
	var got account
	check(tb, db.First(&got, a.ID).Error, "read")
	if got.Balance != 20 || got.Version != 2 || theirs.Version != 2 || mine.Version != 1 {
		tb.Errorf("row = %d at version %d, theirs %d, mine %d; want 20 at 2, 2, 1",
			got.Balance, got.Version, theirs.Version, mine.Version)
	}
	got.Balance = 40
	check(tb, db.Save(&got).Error, "save")
	if got.Version != 3 {
		tb.Errorf("version = %d, want 3", got.Version)
	}
}

// fill creates rows with equal times and three kinds, so neither defines an order.
func fill(tb testing.TB, db *gorm.DB, rows int) []xsnowflake.SnowflakeID {
	events := make([]event, rows)
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range events {
		events[i] = event{Kind: fmt.Sprintf("kind%d", i%3), At: at}
	}
	check(tb, db.CreateInBatches(events, 100).Error, "fill")
	ids := make([]xsnowflake.SnowflakeID, rows)
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

func testPages(tb testing.TB, s *suite) {
	db := s.open(tb, &event{})
	ids := fill(tb, db, 57)
	for _, sort := range []string{"asc", "desc"} {
		seen := readPages(tb, db, sort)
		for _, id := range ids {
			if seen[id] != 1 {
				tb.Errorf("%s: row %d is on %d pages, want 1", sort, id, seen[id])
			}
		}
	}
	last, err := xmodels.Paginate[event](db, xmodels.PageRequest{Page: math.MaxInt, Size: 200},
		xmodels.WithoutCount())
	if err != nil || len(last.Items) != 0 || last.TotalItems != -1 {
		tb.Errorf("page MaxInt: %d items (%v), want 0", len(last.Items), err)
	}
	for _, column := range []string{"no_such", "kind; DROP TABLE x", "kind DESC", "1"} {
		_, err := xmodels.Paginate[event](db, xmodels.PageRequest{}, xmodels.SortBy(column))
		if codeOf(err) != xerror.ParameterError {
			tb.Errorf("sort by %q = %v, want a ParameterError", column, err)
		}
	}
}

// readPages reads the six pages of 57 rows and an empty one, and returns how often each
// row appeared.
func readPages(tb testing.TB, db *gorm.DB, sort string) map[xsnowflake.SnowflakeID]int {
	tb.Helper()
	seen := map[xsnowflake.SnowflakeID]int{}
	for page := 1; page <= 7; page++ {
		r := xmodels.PageRequest{Page: page, Size: 10, Sort: sort}
		p, err := xmodels.Paginate[event](db.Where("at IS NOT NULL"), r, xmodels.SortBy("kind"))
		check(tb, err, "page")
		if p.TotalItems != 57 || p.TotalPages != 6 || p.CurrentPage != page {
			tb.Errorf("page %d = %d of %d pages, %d items; want 57 in 6",
				page, p.CurrentPage, p.TotalPages, p.TotalItems)
		}
		for _, e := range p.Items {
			seen[e.ID]++
		}
	}
	return seen
}

func testKeyset(tb testing.TB, s *suite) {
	db := s.open(tb, &event{})
	ids := fill(tb, db, 57)
	for _, sort := range []string{"asc", "desc"} {
		for _, by := range [][]string{{}, {"kind"}, {"at", "kind"}} {
			var got []xsnowflake.SnowflakeID
			r := xmodels.KeysetRequest{Size: 10, Sort: sort}
			for range 10 {
				p, err := xmodels.Keyset[event](db.Where("id > ?", 0), r, xmodels.SortBy(by...))
				check(tb, err, "page by key")
				for _, e := range p.Items {
					got = append(got, e.ID)
				}
				if r.After = p.Next; r.After == "" {
					break
				}
			}
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(ids)); !slices.Equal(got, want) {
				tb.Errorf("by %v %s: %d rows, want each of %d once", by, sort, len(got), len(want))
			}
		}
	}
}

func testUpsert(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	check(tb, db.Create(&author{Name: "one", Age: 1}).Error, "create")
	onName := []clause.Column{{Name: "name"}}
	rows := []author{{Name: "one", Age: 10}, {Name: "two", Age: 20}}
	update := clause.OnConflict{
		Columns:   onName,
		DoUpdates: clause.AssignmentColumns([]string{"age", "updated_at"}),
	}
	check(tb, db.Clauses(update).Create(&rows).Error, "upsert")
	skip := clause.OnConflict{Columns: onName, DoNothing: true}
	check(tb, db.Clauses(skip).Create(&author{Name: "two", Age: 99}).Error, "insert or skip")
	var ages []int
	check(tb, db.Model(&author{}).Order("name").Pluck("age", &ages).Error, "read")
	if want := []int{10, 20}; !slices.Equal(ages, want) {
		tb.Errorf("ages = %v, want %v", ages, want)
	}
}

func testTimes(tb testing.TB, s *suite) {
	db := s.open(tb, &event{})
	east := time.FixedZone("east", 8*3600)
	for _, at := range []time.Time{
		time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC),
		time.Date(2024, 3, 1, 7, 59, 59, 999999000, east),
		time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 1000, time.UTC),
		time.Date(2999, 12, 31, 23, 59, 59, 999999000, time.UTC),
		time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC),
	} {
		e := event{Kind: "time", At: at}
		check(tb, db.Create(&e).Error, "create")
		var got event
		check(tb, db.First(&got, e.ID).Error, "read")
		if diff := got.At.Sub(at).Abs(); diff >= time.Microsecond {
			tb.Errorf("%v came back as %v", at, got.At)
		}
		if _, offset := got.At.Zone(); offset != 0 {
			tb.Errorf("%v came back in the zone %v, want UTC", at, got.At.Location())
		}
		if !got.CreatedAt.Equal(e.CreatedAt) || e.CreatedAt.Nanosecond()%1000 != 0 {
			tb.Errorf("created_at = %v in the entity, %v in the row", e.CreatedAt, got.CreatedAt)
		}
		zoned := at.Truncate(time.Microsecond).In(east)
		var n int64
		check(tb, db.Model(&event{}).Where("id = ? AND at >= ? AND at < ?",
			e.ID, zoned, zoned.Add(2*time.Microsecond)).Count(&n).Error, "compare")
		if n != 1 {
			tb.Errorf("%v is not found by a time in another zone", at)
		}
	}
	var times []time.Time
	check(tb, db.Model(&event{}).Order("at").Pluck("at", &times).Error, "order")
	if !slices.IsSortedFunc(times, time.Time.Compare) {
		tb.Errorf("times are not in order: %v", times)
	}
}

func testTexts(tb testing.TB, s *suite) {
	db := s.open(tb, &note{}, &event{})
	for _, text := range []string{
		"plain", "größe", "数据库", "😀𝄞👩‍👩‍👧", "it's", `a"b\c`, "tab\tand\nline", "a%b_c",
		"?:name @p1 $1", "`x`", "null", "--", "trailing ",
	} {
		n := note{Text: text}
		check(tb, db.Create(&n).Error, "create")
		var got note
		if err := db.Where("text = ?", text).First(&got).Error; err != nil || got.Text != text {
			tb.Errorf("%q came back as %q (%v)", text, got.Text, err)
		}
	}
	large := strings.Repeat("0123456789abcde😀", 1<<20/19)
	e := event{Kind: "large", At: time.Now(), Body: &large}
	check(tb, db.Create(&e).Error, "create a text of 1 MB")
	var got event
	check(tb, db.First(&got, e.ID).Error, "read a text of 1 MB")
	if got.Body == nil || *got.Body != large {
		tb.Error("a text of 1 MB came back changed")
	}
}

func testEmptyText(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	empty := ""
	none, blank := author{Name: "none"}, author{Name: "blank", Email: &empty}
	check(tb, db.Create([]*author{&none, &blank}).Error, "create")
	var nulls int64
	check(tb, db.Model(&author{}).Where("email IS NULL").Count(&nulls).Error, "count")
	want := int64(1)
	if s.differs(DiffEmptyIsNull) {
		want = 2
	}
	if nulls != want {
		tb.Errorf("rows without an email = %d, want %d", nulls, want)
	}
	var got author
	check(tb, db.First(&got, none.ID).Error, "read")
	if got.Email != nil {
		tb.Errorf("NULL came back as %q", *got.Email)
	}
}
