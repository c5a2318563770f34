package search_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
)

// library returns a library of files. The first line of a file is the title, the second
// the description.
func library(tb testing.TB, files map[string]string) *page.Library {
	tb.Helper()
	content := fstest.MapFS{}
	for name, text := range files {
		title, rest, _ := strings.Cut(text, "\n")
		description, body, _ := strings.Cut(rest, "\n")
		text = fmt.Sprintf("---\ntitle: %q\ndescription: %q\n---\n\n%s", title, description, body)
		content[name+".md"] = &fstest.MapFile{Data: []byte(text)}
		sector, _, _ := strings.Cut(name, "/")
		content[sector+"/order.yaml"] = &fstest.MapFile{Data: []byte("title: " + sector + "\n")}
	}
	l, err := page.Load(content)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func find(tb testing.TB, ix *search.Index, q search.Query) search.Result {
	tb.Helper()
	result, err := ix.Search(q)
	if err != nil {
		tb.Fatalf("search %q: %v", q.Text, err)
	}
	return result
}

// found returns hits as sector/page#anchor.
func found(tb testing.TB, ix *search.Index, text string) []string {
	tb.Helper()
	result := find(tb, ix, search.Query{Text: text})
	return strings.Fields(names(result.Hits))
}

var small = map[string]string{
	"a/alpha":       "xAlpha\nThe first page.\nIt begins here.\n\n## Open a database\n\nCall `xAlpha.WithAutoMigrate` (`WithAutoMigrate` for short) and set `NOSQL_DRIVER`.\n\n## Close\n\nNothing about stores.",
	"a/beta":        "xBeta\nThe second page.\nA cache keeps values. A database may be opened.\n\n## Lease lock\n\nA lock for the cluster.\n\n## Lock\n\nThe lock has a lease.",
	"a/gamma":       "xGamma\nMigration of café tables.\nThe migration lock waits.",
	"a/gamma.zh":    "xGamma 迁移\n表的迁移。\n数据库迁移等待锁，由 cache 保存。",
	"b/deep/delta":  "Deep\nBelow a folder.\nA cache again.",
	"b/deep/order":  "Order\nBelow a folder too.\nValues in order.",
	"b/graceful":    "Shutdown\nHow it ends.\n\n## First\n\nIt stops gracefully and the server drains.\n\n## Second\n\nThe drain is short; the stop comes later.",
	"b/snowflakes":  "Snowflake ids\nNumbers.\nA snowflake is a number.",
	"b/zz-unwanted": "Values\nMany sections.\n\n## One\n\nvalues\n\n## Two\n\nvalues\n\n## Three\n\nvalues\n\n## Four\n\nvalues\n\n## Five\n\nvalues",
}

// smallIndex returns an index of the small library and as many unrelated Chinese pages.
func smallIndex(tb testing.TB) *search.Index {
	tb.Helper()
	files := maps.Clone(small)
	for i := range len(small) {
		files[fmt.Sprintf("b/filler%d.zh", i)] = "无关\n别的内容。\n这里没有答案。"
	}
	return search.New(library(tb, files))
}

func TestIndex_Search(t *testing.T) {
	ix := smallIndex(t)
	for _, test := range []struct {
		name string
		text string
		want string
	}{
		{"a title before a mention", "snowflake", "b/snowflakes"},
		{"a section by its heading", "open a database", "a/alpha#open-a-database"},
		{"an identifier as a whole", "xAlpha.WithAutoMigrate", "a/alpha#open-a-database"},
		{"a component of an identifier", "WithAutoMigrate", "a/alpha#open-a-database"},
		{"parts of an identifier", "auto migrate", "a/alpha#open-a-database"},
		{"one part of an identifier", "auto", "a/alpha#open-a-database"},
		{"another spelling of an identifier", "NoSqlDriver", "a/alpha#open-a-database"},
		{"a prefix of the last word", "snowf", "b/snowflakes"},
		{"a prefix of an identifier", "xAlpha.WithAu", "a/alpha#open-a-database"},
		{"the plural", "snowflakes", "b/snowflakes"},
		{"without diacritics", "cafe", "a/gamma"},
		{"words in their order", "lease lock", "a/beta#lease-lock"},
		{"all words before some", "cache keeps zebra values", "a/beta"},
		{"stop words", "how do I get a snowflake", "b/snowflakes"},
		{"a stop word at the end", "snowflake a", "b/snowflakes"},
		{"only stop words", "how", "b/graceful"},
		{"Chinese", "迁移", "a/gamma.zh"},
		{"Chinese across words", "数据库的迁移", "a/gamma.zh"},
		{"one Chinese character", "迁", "a/gamma.zh"},
		{"an English page by the glossary", "雪花算法", "b/snowflakes"},
		{"mixed", "xGamma迁移", "a/gamma.zh"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := found(t, ix, test.text)
			if len(got) == 0 || got[0] != test.want {
				t.Errorf("%q: got %q, want %q first", test.text, got, test.want)
			}
		})
	}
}

func TestIndex_Search_Order(t *testing.T) {
	t.Run("entries with all words come first", func(t *testing.T) {
		filler := strings.Repeat("It says much about other things. ", 60)
		ix := search.New(library(t, map[string]string{
			"a/one":   "Rare\nRare.\nrare and rarely",
			"a/two":   "Text\nWords.\n\n## Both\n\nA rare word. " + filler + "A common one.",
			"a/three": "Common\nCommon.\ncommon and commonly",
		}))
		if got := found(t, ix, "common rare"); len(got) != 3 || got[0] != "a/two#both" {
			t.Errorf("got %q, want a/two#both first of three", got)
		}
	})

	t.Run("adjacent words come first", func(t *testing.T) {
		ix := search.New(library(t, map[string]string{
			"a/apart":    "A\nPage.\nred paint for the car or the house and green",
			"a/together": "B\nPage.\npaint for the car or the house and red green",
			"a/wrong":    "C\nPage.\ngreen red paint for the car or the house and",
		}))
		if got, want := found(t, ix, "red green"),
			[]string{"a/together", "a/apart", "a/wrong"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})

	t.Run("at most three sections of a page precede other pages", func(t *testing.T) {
		got := found(t, smallIndex(t), "values")
		last := slices.IndexFunc(got,
			func(n string) bool { return !strings.HasPrefix(n, "b/zz-unwanted") })
		for i, n := range got {
			if strings.HasPrefix(n, "a/") || strings.HasPrefix(n, "b/deep") {
				last = i
			}
		}
		of := 0
		for _, n := range got[:last] {
			if strings.HasPrefix(n, "b/zz-unwanted") {
				of++
			}
		}
		if of > 3 || len(got) != 8 {
			t.Errorf("got %q, want 8 hits and at most 3 of one page before the others", got)
		}
	})

	t.Run("is deterministic", func(t *testing.T) {
		library := content(t)
		one, other := search.New(library), search.New(library)
		for _, q := range judgements(t, library, "queries.txt") {
			want := find(t, one, search.Query{Text: q.text})
			for _, ix := range []*search.Index{one, other} {
				if diff := cmp.Diff(names(want.Hits),
					names(find(t, ix, search.Query{Text: q.text}).Hits)); diff != "" {
					t.Errorf("%q (-want +got):\n%s", q.text, diff)
				}
			}
		}
	})

	t.Run("equal scores keep the authored order", func(t *testing.T) {
		ix := search.New(library(t, map[string]string{
			"a/c": "Same\nPage.\nequal", "a/a": "Same\nPage.\nequal", "a/b": "Same\nPage.\nequal",
		}))
		if got, want := found(t, ix, "equal"),
			[]string{"a/a", "a/b", "a/c"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestIndex_Search_Language(t *testing.T) {
	ix := smallIndex(t)
	for _, test := range []struct {
		name  string
		query search.Query
		want  []string
	}{
		{
			"an English query ignores translations",
			search.Query{Text: "xGamma"},
			[]string{"a/gamma"},
		},
		{
			"a Chinese query finds both languages",
			search.Query{Text: "xGamma 迁移"},
			[]string{"a/gamma.zh", "a/gamma"},
		},
		{
			"a path of a translation",
			search.Query{Text: "cache", Path: "/gamma.zh"},
			[]string{"a/gamma.zh"},
		},
		{
			"a path of a translated page",
			search.Query{Text: "迁移", Path: "/gamma"},
			[]string{"a/gamma.zh", "a/gamma"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Fields(names(find(t, ix, test.query).Hits))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIndex_Search_Filter(t *testing.T) {
	ix := smallIndex(t)
	for _, test := range []struct {
		name  string
		query search.Query
		want  []string
	}{
		{"sector", search.Query{Text: "cache", Sector: "b"}, []string{"b/deep/delta"}},
		{"page", search.Query{Text: "cache", Path: "beta"}, []string{"a/beta"}},
		{"pages below", search.Query{Text: "cache", Path: "/deep/"}, []string{"b/deep/delta"}},
		{"ignores a part of a name", search.Query{Text: "cache", Path: "/dee"}, nil},
		{"unknown sector", search.Query{Text: "cache", Sector: "c"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := find(t, ix, test.query)
			if got := strings.Fields(names(result.Hits)); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if result.Total != len(test.want) || result.Hits == nil {
				t.Errorf("total: got %d with hits %v, want %d and no nil",
					result.Total, result.Hits, len(test.want))
			}
		})
	}
}

func TestIndex_Search_Pagination(t *testing.T) {
	ix := search.New(content(t))
	all := find(t, ix, search.Query{Text: "database", Limit: 1000})
	if len(all.Hits) != search.MaxLimit {
		t.Fatalf("got %d hits, want %d", len(all.Hits), search.MaxLimit)
	}
	var parts []search.Hit
	for offset := 0; offset < search.MaxLimit; offset += search.DefaultLimit {
		part := find(t, ix, search.Query{Text: "database", Offset: offset})
		if part.Total != all.Total {
			t.Errorf("total at %d: got %d, want %d", offset, part.Total, all.Total)
		}
		parts = append(parts, part.Hits...)
	}
	if names(parts) != names(all.Hits) {
		t.Errorf("got %s\nwant %s", names(parts), names(all.Hits))
	}
	if got := find(t, ix, search.Query{
		Text:   "database",
		Offset: all.Total + 1,
	}); len(got.Hits) != 0 || got.Total != all.Total {
		t.Errorf("beyond the end: got %d hits of %d, want 0 of %d",
			len(got.Hits), got.Total, all.Total)
	}
	if got := find(t, ix, search.Query{
		Text:   "database",
		Offset: -5, Limit: -1,
	}); len(got.Hits) != search.DefaultLimit {
		t.Errorf("negative: got %d hits, want %d", len(got.Hits), search.DefaultLimit)
	}
}

func TestIndex_Search_Excerpt(t *testing.T) {
	filler := strings.Repeat("Some words that no query contains. ", 20)
	ix := search.New(library(t, map[string]string{
		"a/long": "Title\nA description.\n" + filler +
			"\n\nThe **needle** lies\n\n| in | `hay` |\n|---|---|\n| a | b |\n\n" + filler,
		"a/head": "Needles and pins\nWhat pins are for.\n\n## First\n\nText.",
		"a/hans": "标题\n说明。\n" + strings.Repeat("没有人要找的文字。",
			40) + "缓存在这里。" + strings.Repeat("没有人要找的文字。", 40),
		"a/other": "Other\nA page.\n" + filler,
	}))
	long := find(t, ix, search.Query{Text: "needle hay"}).Hits[0].Excerpt
	if !strings.Contains(long, "The needle lies in hay") || !strings.HasPrefix(long, "…") ||
		!strings.HasSuffix(long, "…") {
		t.Errorf("got %q, want the needle between two …", long)
	}
	chinese := find(t, ix, search.Query{Text: "缓存"}).Hits[0].Excerpt
	if !strings.Contains(chinese, "缓存在这里") {
		t.Errorf("got %q, want the word", chinese)
	}
	for _, e := range []string{long, chinese} {
		if n := utf8.RuneCountInString(e); n < 100 || n > 190 || strings.ContainsAny(e, "\n*|`") {
			t.Errorf("got %d characters in %q, want about 160, in one line, without marks", n, e)
		}
	}
	if got := find(t, ix, search.Query{Text: "pins"}).Hits[0].Excerpt; got != "What pins are for." {
		t.Errorf("a page that begins with a heading: got %q, want its description", got)
	}
}

func TestIndex_Search_Concurrent(t *testing.T) {
	library := content(t)
	ix, queries := search.New(library), judgements(t, library, "queries.txt")
	want := make([]string, len(queries))
	for i, q := range queries {
		want[i] = names(find(t, ix, search.Query{Text: q.text}).Hits)
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range queries {
				i = (i + worker*7) % len(queries)
				result, err := ix.Search(search.Query{Text: queries[i].text})
				if got := names(result.Hits); err != nil || got != want[i] {
					t.Errorf("%q: got %s, %v, want %s", queries[i].text, got, err, want[i])
				}
			}
		})
	}
	group.Wait()
}

func TestIndex_Size(t *testing.T) {
	entries, terms, bytes := search.New(content(t)).Size()
	t.Logf("%d entries, %d terms, %.1f MB", entries, terms, float64(bytes)/1e6)
	if bytes > 12e6 {
		t.Errorf("got %d bytes, want at most 12 MB", bytes)
	}
}
