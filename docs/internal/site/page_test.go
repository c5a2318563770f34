package site_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/plinthgo/plinth/docs/internal/doctest"
	"github.com/plinthgo/plinth/docs/internal/site"
)

func parse(t *testing.T, text string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// find returns the elements with a tag and, if not empty, with a class or ID.
func find(root *html.Node, tag, name string) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == tag && (name == "" ||
			slices.Contains(strings.Fields(attr(n, "class")), name) || attr(n, "id") == name) {
			found = append(found, n)
		}
	}
	return found
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// outline returns the links of a navigation as text, with their enclosing and marking
// elements.
func outline(nav *html.Node) []string {
	var lines []string
	for n := range nav.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.Data == "a" && attr(n, "aria-current") != "":
			lines = append(lines, "["+text(n)+"] "+attr(n, "href"))
		case n.Data == "a":
			lines = append(lines, text(n)+" "+attr(n, "href"))
		case n.Data == "span":
			lines = append(lines, text(n)+":")
		case n.Data == "summary":
			state := "closed"
			for _, a := range n.Parent.Attr {
				if a.Key == "open" {
					state = "open"
				}
			}
			lines = append(lines, text(n)+" "+state)
		}
	}
	return lines
}

func TestSite_Navigation(t *testing.T) {
	s := newSite(t)
	tests := []struct {
		name, url string
		want      []string
	}{
		{"page of a group", "/docs/guide/start", []string{
			"[Guide] /docs/guide", "Reference /docs/reference", "First:",
			"[Quick start] /docs/guide/start",
			attack + " /docs/guide/hostile", "Then:", "More closed", "Deep /docs/guide/more/deep",
			"Picture /docs/guide/more/picture",
		}},
		{"page of a directory", "/docs/guide/more/deep", []string{
			"[Guide] /docs/guide", "Reference /docs/reference", "First:",
			"Quick start /docs/guide/start",
			attack + " /docs/guide/hostile", "Then:", "More open", "[Deep] /docs/guide/more/deep",
			"Picture /docs/guide/more/picture",
		}},
		{"Chinese page", "/docs/guide/start.zh", []string{
			"[指南] /docs/guide", "Reference /docs/reference/index.zh", "首先:",
			"[快速开始] /docs/guide/start.zh",
			attack + " /docs/guide/hostile", "Then:", "更多 closed", "Deep /docs/guide/more/deep",
			"Picture /docs/guide/more/picture",
		}},
		{"index of a sector", "/docs/reference", []string{
			"Guide /docs/guide", "[Reference] /docs/reference", "[Overview] /docs/reference",
			"xKettle /docs/reference/kettle",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			nav := find(parse(t, body(t, s, tt.url)), "nav", "side")
			if len(nav) != 1 {
				t.Fatalf("got %d navigations", len(nav))
			}
			if diff := cmp.Diff(tt.want, outline(nav[0])); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestSite_Pager(t *testing.T) {
	s := newSite(t)
	tests := []struct {
		name, url, class string
		want             []string
	}{
		{
			"first page", "/docs/guide/start", "pager",
			[]string{"Next " + attack + " /docs/guide/hostile"},
		},
		{
			"middle page", "/docs/guide/more/deep", "pager",
			[]string{
				"Previous " + attack + " /docs/guide/hostile",
				"Next Picture /docs/guide/more/picture",
			},
		},
		{"breadcrumbs", "/docs/guide/more/deep", "crumbs", []string{"Guide /docs/guide"}},
		{"breadcrumbs of a Chinese page", "/docs/guide/start.zh", "crumbs", []string{"指南 /docs/guide"}},
		{"table of contents", "/docs/guide/start", "toc", []string{
			"On this page closed", "One #one",
			"One and a half #one-and-a-half", "Two #two",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			nav := find(parse(t, body(t, s, tt.url)), "nav", tt.class)
			if len(nav) != 1 {
				t.Fatalf("got %d navigations", len(nav))
			}
			if diff := cmp.Diff(tt.want, outline(nav[0])); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
	crumbs := find(parse(t, body(t, s, "/docs/guide/more/deep")), "nav", "crumbs")[0]
	if got, want := text(crumbs), "GuideThenMore"; got != want {
		t.Errorf("crumbs = %q, want %q", got, want)
	}
}

func TestSite_Page(t *testing.T) {
	t.Run("has metadata", func(t *testing.T) {
		s := newSite(t, func(c *site.Config) {
			c.BaseURL, c.EditURL, c.Version, c.Live = "https://docs.example.com/",
				"https://git.example.com/edit", "v1.2.3", true
		})
		page := body(t, s, "/docs/guide/start.zh")
		for _, want := range []string{
			`<html lang="zh">`, `<title>快速开始 · Plinth</title>`,
			`<meta name="description" content="第一步。">`,
			`<link rel="canonical" href="https://docs.example.com/docs/guide/start.zh">`,
			`<meta property="og:title" content="快速开始">`,
			`<meta property="og:url" content="https://docs.example.com/docs/guide/start.zh">`,
			`<link rel="alternate" hreflang="zh" href="https://docs.example.com/docs/guide/start.zh">`,
			`<link rel="alternate" hreflang="en" href="https://docs.example.com/docs/guide/start">`,
			`<link rel="alternate" type="text/markdown" href="/docs/guide/start.zh.md">`,
			`<a class="language" href="/docs/guide/start" hreflang="en" lang="en">English</a>`,
			`href="https://git.example.com/edit/guide/start.zh.md" rel="noopener"`,
			`<aside class="alert note" role="note" aria-label="说明">`, "复制为 Markdown",
			"Plinth v1.2.3",
			"/assets/reload.",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("missing %s", want)
			}
		}
		page = body(t, newSite(t), "/docs/guide/more/deep")
		for _, not := range []string{
			"canonical", "hreflang", "og:url", "Edit this page",
			"/assets/reload.",
		} {
			if strings.Contains(page, not) {
				t.Errorf("got %s, want nothing without the setting", not)
			}
		}
	})

	t.Run("is rendered once", func(t *testing.T) {
		s := newSite(t)
		var wait sync.WaitGroup
		tags := make([]string, 16)
		for i := range tags {
			wait.Go(func() {
				for _, url := range []string{
					"/", "/search?q=kettle", "/docs/reference/kettle",
					"/docs/guide/start",
				} {
					tags[i] = doctest.Get(t, s, url).Header().Get("Etag")
				}
			})
		}
		wait.Wait()
		if slices.Sort(tags); tags[0] == "" || len(slices.Compact(tags)) != 1 {
			t.Errorf("tags = %q", tags)
		}
	})
}

func TestSite_Overview(t *testing.T) {
	s := newSite(t)
	overview := body(t, s, "/docs/guide")
	for _, want := range []string{
		"How to begin.", "<h2>First</h2>",
		`<a href="/docs/guide/more/deep">Deep</a><p>Far down.</p>`,
	} {
		if !strings.Contains(overview, want) {
			t.Errorf("the overview does not contain %s", want)
		}
	}
	if text := body(t, s, "/docs/reference"); !strings.Contains(text, "<p>Text.</p>") {
		t.Error("the index of the sector is not shown")
	}
	home := body(t, s, "/")
	for _, want := range []string{
		`<a href="/docs/guide">Guide</a>`,
		`<a href="/docs/guide/start">Quick start</a>`, "4 pages", "/llms.txt", "/api/mcp",
	} {
		if !strings.Contains(home, want) {
			t.Errorf("the home page does not contain %s", want)
		}
	}
	chinese := body(t, s, "/zh")
	for _, want := range []string{
		`<html lang="zh">`, `<a href="/docs/guide">指南</a>`,
		`<a href="/docs/guide/start.zh">快速开始</a>`, `href="/docs/reference/index.zh"`,
	} {
		if !strings.Contains(chinese, want) {
			t.Errorf("the Chinese home page does not contain %s", want)
		}
	}
}

func TestSite_Diagram(t *testing.T) {
	if text := body(t, newSite(t), "/docs/guide/more/picture"); !strings.Contains(text,
		`<div class="code" data-lang="mermaid">`) {
		t.Error("the source is not shown without a picture")
	}
	files := map[string]string{}
	for _, name := range []string{"site.css", "site.js", "theme.js", "reload.js", "favicon.svg"} {
		files["assets/"+name] = name
	}
	const svg = `<svg id="x" width="100%%" viewBox="-8 -8 320.5 100"><rect class="%s"/></svg>`
	// The hash belongs to "graph LR\n a --> b".
	for _, colors := range []string{"light", "dark"} {
		files["diagrams/80baf41df0aba5c4."+colors+".svg"] = fmt.Sprintf(svg, colors)
	}
	s, err := site.NewWithFiles(config(t), doctest.Files(files))
	if err != nil {
		t.Fatal(err)
	}
	figure := find(parse(t, body(t, s, "/docs/guide/more/picture")), "figure", "diagram")
	if len(figure) != 1 {
		t.Fatal("missing figure")
	}
	for _, picture := range find(figure[0], "img", "") {
		if attr(picture, "width") != "321" || attr(picture, "height") != "100" ||
			attr(picture, "alt") != "Request" {
			t.Errorf("picture = %v", picture.Attr)
		}
		w := doctest.Get(t, s, attr(picture, "src"))
		if !strings.Contains(w.Body.String(), `"`+attr(picture, "class")+`"`) ||
			!strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %d %v", attr(picture, "src"), w.Code, w.Header())
		}
	}
}

func TestNew_MissingAsset(t *testing.T) {
	s, err := site.NewWithFiles(config(t),
		doctest.Files(map[string]string{"assets/favicon.svg": ""}))
	if err != nil {
		t.Fatal(err)
	}
	if w := doctest.Get(t, s, "/"); w.Code != http.StatusInternalServerError {
		t.Errorf("status = %d", w.Code)
	}
}

// maxPage is the maximal compressed size of a page in bytes.
const maxPage = 15 << 10

func TestSite_Page_Content(t *testing.T) {
	s, library := realSite(t)
	urls := []string{"/", "/zh"}
	for _, sector := range library.Sectors() {
		urls = append(urls, "/docs/"+sector.Name)
	}
	for _, p := range library.Pages() {
		urls = append(urls, p.URL())
	}
	largest, size := "", 0
	for _, url := range urls {
		text := body(t, s, url)
		checkPlain(t, url, text)
		sent := doctest.Get(t, s, url, "Accept-Encoding", "gzip").Body.Len()
		if sent > size {
			largest, size = url, sent
		}
		if sent > maxPage {
			t.Errorf("%s has %d bytes", url, sent)
		}
	}
	t.Logf("%d pages, the largest is %s with %d bytes", len(urls), largest, size)
}
