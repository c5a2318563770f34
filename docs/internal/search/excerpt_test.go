package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plinthgo/plinth/docs/internal/search"
)

func TestCut(t *testing.T) {
	long := strings.Repeat("one two ", 30)
	for _, test := range []struct {
		name   string
		text   string
		at     int
		window int
		want   string
	}{
		{"a short text is not cut", "a short\n  text", 0, 160, "a short text"},
		{"the beginning", long, 0, 15, "one two one two…"},
		{"the middle", "zero " + long, 101, 15, "…one two one two…"},
		{"the end", long + "needle", 240, 15, "…one two needle"},
		{"characters without blanks", strings.Repeat("缓存", 20), 0, 12, "缓存缓存…"},
		{"no place to cut", strings.Repeat("é", 40), 0, 11, "ééééé…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := search.Cut(test.text, test.at, test.window); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a text\nof several words", 3, 10)
	f.Add(strings.Repeat("数据库迁移", 20), 30, 20)
	f.Add(strings.Repeat("e\u0301", 50), 7, 9)
	f.Add("\xff\xfe broken \x80"+strings.Repeat("x", 300), 5, 160)
	f.Fuzz(func(t *testing.T, text string, at, window int) {
		window = min(max(window, 1), 1000)
		got := search.Cut(text, at, window)
		if !utf8.ValidString(got) {
			t.Errorf("excerpt of %q: got %q, want UTF-8", text, got)
		}
		if strings.ContainsAny(got, "\n\r\t") {
			t.Errorf("excerpt of %q: got %q, want one line", text, got)
		}
		if most := window + window/8 + 2*len("…"); len(got) > most {
			t.Errorf("excerpt of %q: got %d bytes, want at most %d", text, len(got), most)
		}
	})
}
