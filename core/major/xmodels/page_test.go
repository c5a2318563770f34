package xmodels_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

func TestPageRequest_Normalize(t *testing.T) {
	for _, tc := range []struct {
		name                string
		in                  xmodels.PageRequest
		page, limit, offset int
		direction           string
	}{
		{name: "zero value", page: 1, limit: 20, direction: "asc"},
		{
			name: "negative", in: xmodels.PageRequest{Page: -5, Size: -1, Sort: "x"},
			page: 1, limit: 20, direction: "asc",
		},
		{
			name: "third page", in: xmodels.PageRequest{Page: 3, Size: 50, Sort: "desc"},
			page: 3, limit: 50, offset: 100, direction: "desc",
		},
		{
			name: "too large", in: xmodels.PageRequest{Page: 2, Size: 1000, Sort: " DESC "},
			page: 2, limit: 200, offset: 200, direction: "desc",
		},
		{
			name: "smallest int", in: xmodels.PageRequest{Page: math.MinInt, Size: math.MinInt},
			page: 1, limit: 20, direction: "asc",
		},
		{
			name: "largest int", in: xmodels.PageRequest{Page: math.MaxInt, Size: 200},
			page: math.MaxInt, limit: 200, offset: math.MaxInt - 200, direction: "asc",
		},
		{
			name: "largest offset", in: xmodels.PageRequest{Page: math.MaxInt/200 + 1, Size: 200},
			page: math.MaxInt/200 + 1, limit: 200, offset: math.MaxInt - 200, direction: "asc",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := tc.in.Normalize()
			if n.Page != tc.page || tc.in.Limit() != tc.limit || tc.in.Offset() != tc.offset ||
				tc.in.OrderDirection() != tc.direction {
				t.Errorf("page %d, limit %d, offset %d, %s; want %d, %d, %d, %s",
					n.Page, tc.in.Limit(), tc.in.Offset(), tc.in.OrderDirection(), tc.page,
					tc.limit, tc.offset, tc.direction)
			}
			if again := n.Normalize(); again != n {
				t.Errorf("normalized again = %+v, want %+v", again, n)
			}
			if tc.in.Offset() > math.MaxInt-tc.in.Limit() {
				t.Error("offset plus limit overflows")
			}
		})
	}
}

func FuzzOffset(f *testing.F) {
	f.Add(math.MaxInt, 200)
	f.Add(math.MinInt, -1)
	f.Fuzz(func(t *testing.T, page, size int) {
		r := xmodels.PageRequest{Page: page, Size: size}
		if o := r.Offset(); o < 0 || o > math.MaxInt-r.Limit() {
			t.Errorf("offset of %+v = %d", r, o)
		}
	})
}

func TestNewPage(t *testing.T) {
	for _, tc := range []struct {
		total int64
		size  int
		pages int64
	}{
		{0, 10, 0},
		{1, 10, 1},
		{10, 10, 1},
		{11, 10, 2},
		{math.MaxInt64, 1, math.MaxInt64},
		{-1, 10, -1},
		{-99, 10, -1},
	} {
		t.Run(fmt.Sprint(tc.total), func(t *testing.T) {
			if p := xmodels.NewPage[int](1, tc.size, tc.total, nil); p.TotalPages != tc.pages ||
				p.TotalItems < -1 {
				t.Errorf("pages = %d of %d items, want %d", p.TotalPages, p.TotalItems, tc.pages)
			}
		})
	}
}

func TestPageResponse_JSON(t *testing.T) {
	empty := xmodels.NewPageFromRequest[string](xmodels.PageRequest{}, 0, nil)
	full := xmodels.MapPage(xmodels.NewPage(2, 2, 5, []int{3, 4}),
		func(i int) string { return fmt.Sprint(i) })
	for _, tc := range []struct {
		name string
		in   any
		want string
	}{
		{
			name: "empty", in: empty,
			want: `{"current_page":1,"total_pages":0,"total_items":0,"size":20,"items":[]}`,
		},
		{
			name: "full", in: full,
			want: `{"current_page":2,"total_pages":3,"total_items":5,"size":2,"items":["3","4"]}`,
		},
		{
			name: "java", in: full.DTO(),
			want: `{"records":["3","4"],"total":5,"size":2,"current":2}`,
		},
		{
			name: "empty java", in: empty.DTO(),
			want: `{"records":[],"total":0,"size":20,"current":1}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text, err := json.Marshal(tc.in)
			if err != nil || string(text) != tc.want {
				t.Errorf("JSON = %s, %v; want %s", text, err, tc.want)
			}
		})
	}
}

func TestPageScope(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []xmodels.PageOption
		tx   func(*gorm.DB) *gorm.DB
		want string
	}{
		{name: "by the primary key", want: "ORDER BY `users`.`id` DESC"},
		{
			name: "by a column", opts: []xmodels.PageOption{xmodels.SortBy("name")},
			want: "ORDER BY `users`.`name` DESC,`users`.`id` DESC",
		},
		{
			name: "by a field name", opts: []xmodels.PageOption{xmodels.SortBy("CreatedAt")},
			want: "ORDER BY `users`.`created_at` DESC,`users`.`id` DESC",
		},
		{
			name: "by the primary key twice", opts: []xmodels.PageOption{xmodels.SortBy("id")},
			want: "ORDER BY `users`.`id` DESC",
		},
		{
			name: "after an order of the statement",
			tx:   func(db *gorm.DB) *gorm.DB { return db.Order("name ASC") },
			want: "ORDER BY name ASC,`users`.`id` DESC",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db := newDryRunDB(t)
			if tc.tx != nil {
				db = tc.tx(db)
			}
			r := xmodels.PageRequest{Page: 3, Size: 10, Sort: "desc"}
			tx := db.Scopes(xmodels.PageScope(r, nil, tc.opts...)).Find(&[]user{})
			want := "SELECT * FROM `users` " + tc.want + " LIMIT ? OFFSET ?"
			if got := tx.Statement.SQL.String(); got != want || tx.Error != nil {
				t.Errorf("statement\n got %s (%v)\nwant %s", got, tx.Error, want)
			}
		})
	}
}

func TestSortBy(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []xmodels.PageOption
		want *xerror.ErrorCode
	}{
		{
			name: "unknown", opts: []xmodels.PageOption{xmodels.SortBy("nope")},
			want: xerror.ParameterError,
		},
		{
			name: "injection", opts: []xmodels.PageOption{xmodels.SortBy("id; DROP TABLE users")},
			want: xerror.ParameterError,
		},
		{
			name: "expression", opts: []xmodels.PageOption{xmodels.SortBy("(SELECT 1)")},
			want: xerror.ParameterError,
		},
		{
			name: "empty", opts: []xmodels.PageOption{xmodels.SortBy("")},
			want: xerror.ParameterError,
		},
		{
			name: "a field without a column",
			opts: []xmodels.PageOption{xmodels.SortBy("BaseEntity")},
			want: xerror.ParameterError,
		},
		{
			name: "not allowed",
			opts: []xmodels.PageOption{xmodels.SortBy("created_at"), xmodels.AllowSort("name")},
			want: xerror.ParameterError,
		},
		{
			name: "allowed",
			opts: []xmodels.PageOption{xmodels.SortBy("Name"), xmodels.AllowSort("name")},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := xmodels.Paginate[user](newDryRunDB(t), xmodels.PageRequest{},
				append(tc.opts, xmodels.WithoutCount())...)
			if got := xerror.From(err).GetErrorCode(); got != tc.want {
				t.Errorf("code of %v = %v, want %v", err, got, tc.want)
			}
			if _, err := xmodels.Keyset[user](newDryRunDB(t), xmodels.KeysetRequest{},
				tc.opts...); xerror.From(err).GetErrorCode() != tc.want {
				t.Errorf("Keyset = %v, want %v", err, tc.want)
			}
		})
	}
}

type keyless struct{ Name string }

func TestPaginate_NoPrimaryKey(t *testing.T) {
	if _, err := xmodels.Paginate[keyless](newDryRunDB(t), xmodels.PageRequest{}); err == nil {
		t.Error("Paginate succeeded for an entity without a primary key")
	}
}

func TestKeyset(t *testing.T) {
	t.Run("rejects an invalid cursor", func(t *testing.T) {
		cursor := func(text string) string {
			return base64.RawURLEncoding.EncodeToString([]byte(text))
		}
		for _, tc := range []struct{ name, after string }{
			{name: "invalid Base64", after: "???"},
			{name: "invalid JSON", after: cursor("x")},
			{
				name:  "another direction",
				after: cursor(`{"s":"desc","c":["name","id"],"v":["a","1"]}`),
			},
			{name: "another column", after: cursor(`{"s":"asc","c":["email","id"],"v":["a","1"]}`)},
			{name: "too few values", after: cursor(`{"s":"asc","c":["name","id"],"v":["a"]}`)},
			{name: "null", after: cursor(`{"s":"asc","c":["name","id"],"v":[null,"1"]}`)},
			{
				name:  "another type",
				after: cursor(`{"s":"asc","c":["name","id"],"v":["a",{"x":1}]}`),
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				_, err := xmodels.Keyset[user](newDryRunDB(t),
					xmodels.KeysetRequest{After: tc.after}, xmodels.SortBy("name"))
				if got := xerror.From(err).GetErrorCode(); got != xerror.ParameterError {
					t.Errorf("code of %v = %v, want ParameterError", err, got)
				}
			})
		}
	})

	t.Run("uses a condition that an index supports", func(t *testing.T) {
		db := newDryRunDB(t)
		var sql string
		if err := db.Callback().Query().After("gorm:query").Register("test:sql",
			func(tx *gorm.DB) { sql = tx.Statement.SQL.String() }); err != nil {
			t.Fatal(err)
		}
		after := base64.RawURLEncoding.EncodeToString(
			[]byte(`{"s":"asc","c":["name","id"],"v":["a","1"]}`))
		if _, err := xmodels.Keyset[user](db.Where("x = ? OR y = ?", 1, 2),
			xmodels.KeysetRequest{After: after}, xmodels.SortBy("name")); err != nil {
			t.Fatal(err)
		}
		const want = "SELECT * FROM `users` WHERE (x = ? OR y = ?) AND " +
			"(`users`.`name` >= ? AND (`users`.`name` > ? OR (`users`.`name` = ? AND `users`.`id` > ?))) " +
			"ORDER BY `users`.`name`,`users`.`id` LIMIT ?"
		if sql != want {
			t.Errorf("statement\n got %s\nwant %s", sql, want)
		}
		if strings.Contains(sql, "OFFSET") {
			t.Error("keyset pagination uses OFFSET")
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add("eyJzIjoiYXNjIn0")
	f.Fuzz(func(t *testing.T, after string) {
		_, err := xmodels.Keyset[user](newDryRunDB(t), xmodels.KeysetRequest{After: after})
		if err != nil && xerror.From(err).GetErrorCode() != xerror.ParameterError {
			t.Errorf("cursor %q: %v", after, err)
		}
	})
}
