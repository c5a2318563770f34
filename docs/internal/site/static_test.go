package site_test

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/doctest"
	"github.com/plinthgo/plinth/docs/internal/site"
)

func staticFiles(t *testing.T, s *site.Site) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name, body := range s.Files() {
		if _, ok := files[name]; ok || body == nil || strings.HasPrefix(name, "/") {
			t.Errorf("%q: empty or duplicate (%d bytes)", name, len(body))
		}
		files[name] = string(body)
	}
	return files
}

func TestSite_Files(t *testing.T) {
	t.Run("contains all pages", func(t *testing.T) {
		files := staticFiles(t, newSite(t,
			func(c *site.Config) { c.BaseURL, c.Live = "https://docs.example.com", true }))
		for _, name := range []string{
			"index.html", "zh/index.html", "404.html", "docs/guide/index.html",
			"docs/guide/start/index.html", "docs/guide/start.zh/index.html",
			"docs/reference/index.html", "docs/guide/more/deep/index.html", "robots.txt",
			"sitemap.xml",
			"favicon.svg", "search.json",
		} {
			if files[name] == "" {
				t.Errorf("missing %s", name)
			}
		}
		for name, text := range files {
			if !strings.HasSuffix(name, ".html") {
				continue
			}
			checkPlain(t, name, text)
			for _, node := range slices.Concat(find(parse(t, text), "script", ""),
				find(parse(t, text), "link", "")) {
				if address := attr(node, "src") + attr(node, "href"); strings.HasPrefix(address,
					"/assets/") && files[address[1:]] == "" {
					t.Errorf("%s: missing %s", name, address)
				}
			}
			if strings.Contains(text, "/assets/reload.") || strings.Contains(text, "/api/") {
				t.Errorf("%s refers to a server", name)
			}
			if !strings.Contains(text, `data-search="/search.json"`) ||
				!strings.Contains(text, ` hidden><span>`) {
				t.Errorf("%s: the search works without the script", name)
			}
		}
		var sections []struct{ U, T, H, X string }
		if err := json.Unmarshal([]byte(files["search.json"]), &sections); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(sections, struct{ U, T, H, X string }{
			"/docs/reference/kettle#boil",
			"xKettle", "Boil", "A kettle boils, and a kettle whistles.",
		}) {
			t.Errorf("the search index = %v", sections)
		}
	})

	t.Run("supports an early stop", func(t *testing.T) {
		s := newSite(t)
		for n := range len(staticFiles(t, s)) {
			left := n
			for range s.Files() {
				if left--; left < 0 {
					break
				}
			}
		}
	})
}

func TestSite_Sitemap(t *testing.T) {
	s := newSite(t, func(c *site.Config) { c.BaseURL = "https://docs.example.com/" })
	var sitemap struct {
		URL []struct {
			Loc  string `xml:"loc"`
			Link []struct {
				Lang string `xml:"hreflang,attr"`
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"url"`
	}
	if err := xml.Unmarshal([]byte(body(t, s, "/sitemap.xml")), &sitemap); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range sitemap.URL {
		line := strings.TrimPrefix(u.Loc, "https://docs.example.com")
		for _, l := range u.Link {
			line += " " + l.Lang + "=" + strings.TrimPrefix(l.Href, "https://docs.example.com")
		}
		got = append(got, line)
	}
	want := []string{
		"/ en=/ zh=/zh", "/zh en=/ zh=/zh", "/docs/guide",
		"/docs/guide/start en=/docs/guide/start zh=/docs/guide/start.zh",
		"/docs/guide/start.zh en=/docs/guide/start zh=/docs/guide/start.zh", "/docs/guide/hostile",
		"/docs/guide/more/deep",
		"/docs/guide/more/picture",
		"/docs/reference en=/docs/reference zh=/docs/reference/index.zh",
		"/docs/reference/index.zh en=/docs/reference zh=/docs/reference/index.zh",
		"/docs/reference/kettle",
	}
	if !slices.Equal(got, want) {
		t.Errorf("sitemap =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if text := body(t, s, "/robots.txt"); !strings.Contains(text,
		"Sitemap: https://docs.example.com/sitemap.xml\n") {
		t.Errorf("robots.txt = %s", text)
	}
	if w := doctest.Get(t, newSite(t), "/sitemap.xml"); w.Code != 404 {
		t.Errorf("got a sitemap without BaseURL: %d", w.Code)
	}
}
