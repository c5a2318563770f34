package search_test

import (
	"testing"

	"github.com/plinthgo/plinth/docs/internal/search"
)

// BenchmarkNew measures building the index of the documentation.
func BenchmarkNew(b *testing.B) {
	library := content(b)
	b.ReportAllocs()
	for b.Loop() {
		search.New(library)
	}
}

func BenchmarkSearch(b *testing.B) {
	index := search.New(content(b))
	for _, bench := range []struct{ name, text string }{
		{"word", "cache"},
		{"identifier", "xoptdatabase.WithAutoMigrate"},
		{"question", "how do I stop gracefully"},
		{"prefix", "s"},
		{"chinese", "数据库迁移"},
		{"typo", "snowflqke"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := index.Search(search.Query{Text: bench.text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkQueries runs the committed queries in turn. The time of one operation is their
// mean.
func BenchmarkQueries(b *testing.B) {
	library := content(b)
	index, queries := search.New(library), judgements(b, library, "queries.txt")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := index.Search(search.Query{Text: queries[i%len(queries)].text}); err != nil {
			b.Fatal(err)
		}
	}
}
