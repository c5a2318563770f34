package search_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
)

func TestIndex_Search_Query(t *testing.T) {
	t.Run("returns ErrEmpty without a word", func(t *testing.T) {
		for _, text := range []string{"", "  ", "?!", "--", "\xff", "。、"} {
			if _, err := smallIndex(t).Search(search.Query{Text: text}); !errors.Is(err,
				search.ErrEmpty) {
				t.Errorf("%q: got %v, want ErrEmpty", text, err)
			}
		}
	})

	t.Run("ignores unknown words", func(t *testing.T) {
		if got := found(t, smallIndex(t), "snowflake qqqqqqqq"); !slices.Contains(got,
			"b/snowflakes") {
			t.Errorf("got %q, want b/snowflakes in the list", got)
		}
	})

	t.Run("truncates long queries", func(t *testing.T) {
		ix := smallIndex(t)
		if got := find(t, ix, search.Query{Text: "zebra" + strings.Repeat(" ",
			search.MaxBytes) + "snowflake"}); got.Total != 0 {
			t.Errorf("a word after the limit: got %d hits, want 0", got.Total)
		}
		if got := find(t, ix, search.Query{Text: strings.Repeat("缓", 400)}); got.Hits == nil {
			t.Error("got nil hits, want a list")
		}
		var many strings.Builder
		for i := range search.MaxWords {
			fmt.Fprintf(&many, "w%d ", i)
		}
		if got := find(t, ix, search.Query{Text: many.String() + "snowflake"}); got.Total != 0 {
			t.Errorf("a word after MaxWords: got %d hits, want 0", got.Total)
		}
	})

	t.Run("has no hits in an empty library", func(t *testing.T) {
		if got := find(t, search.New(&page.Library{}),
			search.Query{Text: "cache 缓存"}); got.Total != 0 || got.Hits == nil {
			t.Errorf("got %+v, want no hits", got)
		}
	})
}

func TestIndex_Search_Suggestions(t *testing.T) {
	ix := smallIndex(t)
	for _, test := range []struct {
		name string
		text string
		want string // the first one
	}{
		{"a missing letter", "snwflake", "snowflake"},
		{"two letters swapped", "migratoin", "migration"},
		{"within a query", "the databse lock", "the database lock"},
		{"two words", "databse migratoin", "database migration"},
		{"the spelling of an identifier", "withautomigrat3", "WithAutoMigrate"},
		{"no similar word", "qqqqqqqq", ""},
		{"all words are known", "database lock", ""},
		{"a prefix of a word", "snowf", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := find(t, ix, search.Query{Text: test.text}).Suggestions
			if got == nil || strings.Join(got[:min(1, len(got))], "") != test.want {
				t.Errorf("%q: got %q, want %q first", test.text, got, test.want)
			}
		})
	}
}

func FuzzSearch(f *testing.F) {
	ix := smallIndex(f)
	for _, s := range []string{
		"cache", "xAlpha.With", "缓存 lock", "\xff\xfe", "how do", "锁",
		strings.Repeat("a.", 600),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		result, err := ix.Search(search.Query{Text: text})
		if err != nil && !errors.Is(err, search.ErrEmpty) {
			t.Fatalf("%q: got %v, want ErrEmpty or nil", text, err)
		}
		for _, h := range result.Hits {
			if !utf8.ValidString(h.Excerpt) || h.Score <= 0 {
				t.Errorf("%q: got %q with score %v, want UTF-8 and more than 0",
					text, h.Excerpt, h.Score)
			}
		}
		for _, s := range result.Suggestions {
			if !utf8.ValidString(s) || s == "" {
				t.Errorf("%q: got suggestion %q, want UTF-8", text, s)
			}
		}
	})
}
