package dbtest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

var queryCases = []testCase{
	{"Query/IN list of many IDs", testManyIDs},
	{"Query/maps have column names as keys", testMaps},
	{"Query/groups and counts", testGroups},
	{"Query/aliases map to struct fields", testAliases},
	{"Query/named parameters", testNamedParameters},
	{"Query/LIKE with ESCAPE", testLike},
	{"Query/reads associations", testAssociations},
	{"Query/reads row by row", testRows},
	{"Query/prepared statements", testPreparedStatements},
}

// manyIDs exceeds the list limit of Oracle, but not the parameter limit of SQL Server.
const manyIDs = 1500

// createAuthors creates authors of the ages 20, 21 and so on.
func createAuthors(tb testing.TB, db *gorm.DB, names ...string) []author {
	authors := make([]author, len(names))
	for i, name := range names {
		authors[i] = author{Name: name, Age: 20 + i}
	}
	check(tb, db.Create(&authors).Error, "create authors")
	return authors
}

func testManyIDs(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	all := createAuthors(tb, db, "a", "b", "c")
	ids := make([]xsnowflake.SnowflakeID, manyIDs)
	for i := range ids {
		ids[i] = xsnowflake.SnowflakeID(i + 1)
	}
	ids[0], ids[manyIDs-1] = all[0].ID, all[2].ID
	for _, tc := range []struct {
		name string
		find func(tx *gorm.DB, to *[]string) error
		want []string
	}{
		{"in", func(tx *gorm.DB, to *[]string) error {
			return tx.Where("id IN ?", ids).Pluck("name", to).Error
		}, []string{"a", "c"}},
		{"not in", func(tx *gorm.DB, to *[]string) error {
			return tx.Where("id NOT IN ?", ids).Pluck("name", to).Error
		}, []string{"b"}},
		{"a map", func(tx *gorm.DB, to *[]string) error {
			return tx.Where(map[string]any{"id": ids}).Pluck("name", to).Error
		}, []string{"a", "c"}},
		{"not a map", func(tx *gorm.DB, to *[]string) error {
			return tx.Not(map[string]any{"id": ids}).Pluck("name", to).Error
		}, []string{"b"}},
		{"with another condition", func(tx *gorm.DB, to *[]string) error {
			return tx.Where("age > ? AND id IN ? AND age < ?", 20, ids, 90).Pluck("name", to).Error
		}, []string{"c"}},
	} {
		var got []string
		err := tc.find(db.Model(&author{}).Order("name"), &got)
		if err != nil || !slices.Equal(got, tc.want) {
			tb.Errorf("%s: names = %q (%v), want %q", tc.name, got, err, tc.want)
		}
	}
	var got []author
	if err := db.Order("name").Find(&got, ids).Error; err != nil || len(got) != 2 {
		tb.Errorf("Find by ids = %d rows (%v), want 2", len(got), err)
	}
	deleted := db.Delete(&author{}, "id IN ?", ids)
	if deleted.Error != nil || deleted.RowsAffected != 2 {
		tb.Errorf("deleted %d rows (%v), want 2", deleted.RowsAffected, deleted.Error)
	}
}

func sortedKeys(row map[string]any) []string {
	keys := make([]string, 0, len(row))
	for key := range row {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func testMaps(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	all := createAuthors(tb, db, "a", "b")
	want := []string{"age", "email", "id", "name"}
	var rows []map[string]any
	check(tb, db.Model(&author{}).Select("id", "name", "age", "email").
		Order("name").Find(&rows).Error, "find")
	if len(rows) != 2 {
		tb.Fatalf("rows = %d, want 2", len(rows))
	}
	one := map[string]any{}
	check(tb, db.Model(&author{}).Select("id", "name", "age", "email").
		Where("name = ?", "b").Take(&one).Error, "take")
	for i, row := range append(rows, one) {
		a := all[min(i, 1)]
		if got := sortedKeys(row); !slices.Equal(got, want) {
			tb.Errorf("keys = %q, want %q", got, want)
			continue
		}
		if row["name"] != a.Name || row["email"] != nil {
			tb.Errorf("row %d: name = %v (%T), email = %v; want %q and nil",
				i, row["name"], row["name"], row["email"], a.Name)
		}
		if fmt.Sprint(row["id"]) != a.ID.String() || fmt.Sprint(row["age"]) != fmt.Sprint(a.Age) {
			tb.Errorf("row %d: id = %v, age = %v; want %d and %d",
				i, row["id"], row["age"], a.ID, a.Age)
		}
	}
	check(tb, db.Model(&author{}).Where("id = ?", all[0].ID).
		Updates(map[string]any{"age": 77, "email": "x"}).Error, "update by a map")
	var got author
	check(tb, db.First(&got, all[0].ID).Error, "read")
	if got.Age != 77 || got.Email == nil || *got.Email != "x" {
		tb.Errorf("row = %+v after an update by a map", got)
	}
}

func testGroups(tb testing.TB, s *suite) {
	db := s.open(tb, &event{})
	fill(tb, db, 7) // 3 of kind0, 2 of kind1, 2 of kind2
	var groups []struct {
		Kind  string
		Total int
	}
	kinds := func() *gorm.DB { return db.Model(&event{}).Group("kind") }
	check(tb, kinds().Select("kind, COUNT(*) AS total").Having("COUNT(*) > ?", 1).
		Order("kind DESC").Scan(&groups).Error, "group")
	if got, want := fmt.Sprint(groups), "[{kind2 2} {kind1 2} {kind0 3}]"; got != want {
		tb.Errorf("groups = %s, want %s", got, want)
	}
	var n, distinct int64
	check(tb, kinds().Count(&n).Error, "count the groups")
	check(tb, db.Model(&event{}).Distinct("kind").Count(&distinct).Error, "count the kinds")
	if n != 3 || distinct != 3 {
		tb.Errorf("groups = %d, kinds = %d, want 3 of each", n, distinct)
	}
	var names []string
	check(tb, db.Model(&event{}).Distinct().Order("kind").Limit(2).Offset(1).
		Pluck("kind", &names).Error, "distinct")
	if want := []string{"kind1", "kind2"}; !slices.Equal(names, want) {
		tb.Errorf("kinds = %q, want %q", names, want)
	}
	var sum *int64
	check(tb, db.Model(&event{}).Where("1 = 0").Select("SUM(id)").Scan(&sum).Error,
		"sum of no rows")
	if sum != nil {
		tb.Errorf("the sum of no rows = %d, want NULL", *sum)
	}
}

func testAliases(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	all := createAuthors(tb, db, "a", "b")
	check(tb, db.Create(&book{Title: "of b", AuthorID: all[1].ID}).Error, "create a book")
	var rows []struct {
		WriterName string
		NextAge    int
		BookTitle  *string
	}
	authors, books := s.prefix+"authors", s.prefix+"books"
	check(tb, db.Model(&author{}).
		Select(authors+".name AS writer_name", authors+".age + 1 AS next_age",
			"b.title AS book_title").
		Joins("LEFT JOIN "+books+" b ON b.author_id = "+authors+".id").
		Order(authors+".name").Scan(&rows).Error, "join")
	if len(rows) != 2 ||
		rows[0].WriterName != "a" || rows[0].NextAge != 21 || rows[0].BookTitle != nil ||
		rows[1].WriterName != "b" || rows[1].BookTitle == nil || *rows[1].BookTitle != "of b" {
		tb.Errorf("rows = %+v", rows)
	}
	var short []struct{ Name string }
	check(tb, db.Model(&author{}).Where("id IN (?)",
		db.Model(&book{}).Select("author_id")).Find(&short).Error, "subquery")
	if len(short) != 1 || short[0].Name != "b" {
		tb.Errorf("authors of books = %+v, want b", short)
	}
}

func testNamedParameters(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	createAuthors(tb, db, "a", "b", "c")
	query := "SELECT name FROM " + s.prefix +
		"authors WHERE name = @name OR age > @age AND name <> @name ORDER BY name"
	for what, args := range map[string][]any{
		"sql.Named": {sql.Named("name", "a"), sql.Named("age", 21)},
		"a map":     {map[string]any{"name": "a", "age": 21}},
		"a struct": {struct {
			Name string
			Age  int
		}{"a", 21}},
	} {
		text := query
		if what == "a struct" {
			text = strings.NewReplacer("@name", "@Name", "@age", "@Age").Replace(query)
		}
		var got []string
		err := db.Raw(text, args...).Scan(&got).Error
		if err != nil || !slices.Equal(got, []string{"a", "c"}) {
			tb.Errorf("%s: names = %q (%v), want a and c", what, got, err)
		}
	}
	updated := db.Exec("UPDATE "+s.prefix+"authors SET age = @age WHERE name IN @names",
		sql.Named("age", 50), sql.Named("names", []string{"a", "b"}))
	if updated.Error != nil || updated.RowsAffected != 2 {
		tb.Errorf("updated %d rows (%v), want 2", updated.RowsAffected, updated.Error)
	}
}

func testLike(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{})
	createAuthors(tb, db, "100% sure", "100 percent", "a_b", "acb")
	for _, tc := range []struct {
		condition, pattern string
		want               []string
	}{
		{"name LIKE ?", "100%", []string{"100 percent", "100% sure"}},
		{"name LIKE ?", "a_b", []string{"a_b", "acb"}},
		{"name LIKE ? ESCAPE '!'", "100!%%", []string{"100% sure"}},
		{"name LIKE ? ESCAPE '!'", "a!_b", []string{"a_b"}},
		{"name NOT LIKE ?", "%a%b%", []string{"100 percent", "100% sure"}},
	} {
		var got []string
		check(tb, db.Model(&author{}).Where(tc.condition, tc.pattern).Pluck("name", &got).Error,
			"like")
		slices.Sort(got)
		if !slices.Equal(got, tc.want) {
			tb.Errorf("%s with %q = %q, want %q", tc.condition, tc.pattern, got, tc.want)
		}
	}
}

func testAssociations(tb testing.TB, s *suite) {
	db := s.open(tb, &author{}, &book{}, &parentBefore{}, &child{})
	all := createAuthors(tb, db, "a", "b", "c")
	for i := range 5 {
		check(tb, db.Create(&book{Title: fmt.Sprint("book ", i), AuthorID: all[i%2].ID}).Error,
			"create a book")
	}
	var got []author
	check(tb, db.Preload("Books").Order("name").Find(&got).Error, "preload")
	if len(got) != 3 || len(got[0].Books) != 3 || len(got[1].Books) != 2 || len(got[2].Books) != 0 {
		tb.Errorf("authors with books = %+v, want 3, 2 and 0 books", got)
	}
	p := parentBefore{Name: "p"}
	check(tb, db.Create(&p).Error, "create a parent")
	check(tb, db.Create([]*child{{ParentID: p.ID}, {Parent: &parentBefore{Name: "new"}}}).Error,
		"create children")
	for what, tx := range map[string]*gorm.DB{
		"join":    db.Joins("Parent"),
		"preload": db.Preload("Parent"),
	} {
		var children []child
		check(tb, tx.Find(&children).Error, what)
		var names []string
		for _, c := range children {
			if c.Parent != nil {
				names = append(names, c.Parent.Name)
			}
		}
		if slices.Sort(names); !slices.Equal(names, []string{"new", "p"}) {
			tb.Errorf("%s: parents = %q, want new and p", what, names)
		}
	}
}

func scanIDs(db *gorm.DB) (ids []xsnowflake.SnowflakeID, err error) {
	rows, err := db.Model(&event{}).Select("id", "kind").Order("id").Rows()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e event
		if err := db.ScanRows(rows, &e); err != nil {
			return nil, err
		}
		ids = append(ids, e.ID)
	}
	return ids, rows.Err()
}

func testRows(tb testing.TB, s *suite) {
	db := s.open(tb, &event{})
	ids := fill(tb, db, 25)
	got, err := scanIDs(db)
	check(tb, err, "rows")
	if !slices.Equal(got, ids) {
		tb.Errorf("rows = %d, want each of %d in order", len(got), len(ids))
	}
	got = nil
	var batch []event
	check(tb, db.FindInBatches(&batch, 10, func(*gorm.DB, int) error {
		for _, e := range batch {
			got = append(got, e.ID)
		}
		return nil
	}).Error, "find in batches")
	if !slices.Equal(got, ids) {
		tb.Errorf("rows in batches = %d, want each of %d in order", len(got), len(ids))
	}
	var found event
	check(tb, db.Last(&found).Error, "last")
	if found.ID != ids[len(ids)-1] {
		tb.Errorf("last = %d, want %d", found.ID, ids[len(ids)-1])
	}
}

func testPreparedStatements(tb testing.TB, s *suite) {
	o := s.options(tb, &note{}, &account{})
	o.Gorm = func(c *gorm.Config) { c.PrepareStmt = true }
	db := s.openWith(tb, o)
	a := account{}
	check(tb, db.Create(&a).Error, "create")
	check(tb, firstError(inParallel(10, func(int) error {
		for range 3 {
			err := db.Model(&account{}).Where("id = ?", a.ID).
				Update("balance", gorm.Expr("balance + ?", 1)).Error
			if err != nil {
				return err
			}
		}
		return db.Transaction(func(tx *gorm.DB) error { return create(tx, "prepared") })
	})), "prepare and write")
	wantBalance(tb, db, a.ID, 30)
	if got := count(tb, db, &note{}); got != 10 {
		tb.Errorf("rows = %d, want 10", got)
	}
	page, err := xmodels.Paginate[note](db, xmodels.PageRequest{Page: 1, Size: 3})
	if err != nil || len(page.Items) != 3 || page.TotalItems != 10 {
		tb.Errorf("page = %d of %d rows (%v), want 3 of 10", len(page.Items), page.TotalItems, err)
	}
}
