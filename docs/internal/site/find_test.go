package site_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/doctest"
)

func TestSite_Search(t *testing.T) {
	t.Run("shows results, suggestions and hints", func(t *testing.T) {
		s := newSite(t)
		text := body(t, s, "/search?q=kettle")
		for _, want := range []string{
			`value="kettle"`, `<a href="/docs/reference/kettle#boil">xKettle › Boil</a>`,
			`<mark>kettle</mark>`,
			`<meta name="robots" content="noindex">`, `<small>Reference</small>`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("missing %s in\n%s", want, text)
			}
		}
		if text := body(t, s, "/search?q=ketle"); !strings.Contains(text,
			`<a href="/search?q=kettle">kettle</a>`) {
			t.Errorf("no suggestion for a misspelt word:\n%s", text)
		}
		if text := body(t, s, "/search"); !strings.Contains(text, "Type a word") ||
			strings.Contains(text, "<p>Nothing was found.</p>") {
			t.Error("an empty query does not show the hint")
		}
		if text := body(t, s, "/search?q=qqqqqqq"); !strings.Contains(text,
			"<p>Nothing was found.</p>") {
			t.Error("a query without results does not report it")
		}
		if text := body(t, s, "/search?q=kettle&lang=zh"); !strings.Contains(text,
			`name="lang" value="zh"`) || !strings.Contains(text, "搜索") {
			t.Error("the Chinese page is not in Chinese")
		}
		if w := doctest.Get(t, s,
			"/search?q=%ff%fe&page=999999999999999999999"); w.Code != http.StatusOK {
			t.Errorf("invalid UTF-8: status %d", w.Code)
		}
	})

	t.Run("truncates long requests", func(t *testing.T) {
		const most = 32 << 10 // bytes; the request is longer
		s := newSite(t)
		for _, letter := range []string{"k", "水"} {
			long := url.QueryEscape(strings.Repeat(letter, 100<<10))
			for _, address := range []string{
				"/search?q=" + long, "/search?lang=zh&page=2&q=" + long,
				"/api/search?query=" + long, "/docs/guide/" + long, "/" + long,
			} {
				text := doctest.Get(t, s, address).Body.String()
				if strings.Contains(text, strings.Repeat(letter, 201)) || len(text) > most ||
					!utf8.ValidString(text) {
					t.Errorf("%.20s: %d bytes", address, len(text))
				}
			}
			text := body(t, s, "/search?q="+long)
			if want := `value="` + strings.Repeat(letter, 200) +
				`…"`; !strings.Contains(text, want) {
				t.Errorf("the truncated query has no ellipsis:\n%s", text)
			}
			if want := strings.Repeat(letter, 200); !strings.Contains(body(t, s,
				"/search?q="+url.QueryEscape(want)), `value="`+want+`"`) {
				t.Errorf("a query of 200 characters is truncated")
			}
		}
	})

	t.Run("has pages", func(t *testing.T) {
		s, _ := realSite(t)
		first := body(t, s, "/search?q=error")
		if !strings.Contains(first, `<a rel="next" href="/search?page=2&amp;q=error">`) ||
			strings.Contains(first, `rel="prev"`) {
			t.Error("the first page of results links not only to the second")
		}
		if second := body(t, s, "/search?q=error&page=2"); !strings.Contains(second,
			`<a rel="prev" href="/search?q=error">`) {
			t.Error("the second page of results does not link to the first")
		}
	})
}

func TestSite_SearchAPI(t *testing.T) {
	type match struct {
		ID, URL, Type, Content string
		Breadcrumbs            []string
	}
	s := newSite(t)
	tests := []struct {
		name, url string
		want      []match
	}{
		{"section", "/api/search?query=whistles", []match{
			{
				"/docs/reference/kettle", "/docs/reference/kettle", "page", "xKettle",
				[]string{"Reference"},
			},
			{"/docs/reference/kettle#boil", "/docs/reference/kettle#boil", "heading", "Boil", nil},
			{
				"/docs/reference/kettle#boil:text", "/docs/reference/kettle#boil", "text",
				"A kettle boils, and a kettle whistles.", nil,
			},
		}},
		{"no results", "/api/search?query=qqqqqqq", []match{}},
		{"empty query", "/api/search?query=", []match{}},
		{"no query", "/api/search", []match{}},
		{"another sector", "/api/search?query=whistles&tag=guide", []match{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := doctest.Get(t, s, tt.url)
			if w.Code != http.StatusOK ||
				w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
				t.Fatalf("response = %d %v", w.Code, w.Header())
			}
			var got []match
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestSite_SearchAPI_IDs(t *testing.T) {
	s, _ := realSite(t)
	var list []struct{ ID, URL, Type string }
	if err := json.Unmarshal(doctest.Get(t, s, "/api/search?query=lease").Body.Bytes(),
		&list); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range list {
		if seen[m.ID] {
			t.Errorf("duplicate ID %q", m.ID)
		}
		if page, _, _ := strings.Cut(m.URL, "#"); m.Type != "page" && !seen[page] {
			t.Errorf("%q precedes its page", m.ID)
		}
		seen[m.ID] = true
	}
	if len(list) == 0 {
		t.Error("no results")
	}
}
