package page_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/doctest"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// content returns a documentation with an index, a directory, groups, translations, and a
// page that is not listed.
func content() map[string]string {
	return map[string]string{
		"guide/order.yaml": "title: Guide\ntitle_zh: 指南\ndescription: How to.\npages: [start, decisions/]\n",
		"guide/index.md":   doctest.Page("Overview", "See [start](start.md)."),
		"guide/start.md": doctest.Page("Quick start",
			"Before.\n\n## First step\n\n[xdb](../base-go/xdb.md#open) and `[x](y.md)`.\n\n```md\n[in code](../base-go/xdb.md)\n```\n\n[here](#first-step)"),
		"guide/start.zh.md":          doctest.Page("快速开始", "## 第一步\n\n[错误](../base-go/xerror.md)"),
		"guide/decisions/order.yaml": "title: Decisions\npages: [names]\n",
		"guide/decisions/names.md": doctest.Page("Names",
			"Up: [start](../start.md#first-step), [code](../../../core/x.go), [web](https://example.org/a.md)."),
		"guide/zzz.md":       doctest.Page("Orphan", "Not listed."),
		"base-go/order.yaml": "title: Go library\ngroups:\n  - title: Data\n    title_zh: 数据\n    pages: [xdb]\n  - title: Rest\n    pages: [xerror]\n",
		"base-go/xdb.md": doctest.Page("xdb",
			"## Open\n\nIt opens.\n\n## Open\n\nAgain."),
		"base-go/xerror.md": doctest.Page("xerror", "Errors."),
	}
}

func load(t *testing.T) *page.Library {
	t.Helper()
	return doctest.Library(t, content())
}

func TestLibrary_Pages(t *testing.T) {
	var got []string
	for _, p := range load(t).Pages() {
		got = append(got, p.URL())
	}
	want := []string{
		"/docs/guide", "/docs/guide/start", "/docs/guide/start.zh", "/docs/guide/decisions/names",
		"/docs/guide/zzz",
		"/docs/base-go/xdb", "/docs/base-go/xerror",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestSector_Tree(t *testing.T) {
	var got []string
	var walk func(nodes []*page.Node, depth int)
	walk = func(nodes []*page.Node, depth int) {
		for _, n := range nodes {
			got = append(got, strings.Repeat(" ", depth)+n.Title+"|"+n.TitleZh)
			walk(n.Children, depth+1)
		}
	}
	for _, s := range load(t).Sectors() {
		got = append(got, s.Name+": "+s.Title+"|"+s.TitleZh)
		walk(s.Tree, 1)
	}
	want := []string{
		"guide: Guide|指南", " Overview|Overview", " Quick start|快速开始", " Decisions|Decisions",
		"  Names|Names", " Orphan|Orphan",
		"base-go: Go library|Go library", " Data|数据", "  xdb|xdb", " Rest|Rest", "  xerror|xerror",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestPage_Body(t *testing.T) {
	l := load(t)
	tests := []struct{ name, sector, path, want string }{
		{"to another sector", "guide", "/start", "[xdb](/docs/base-go/xdb#open) and `[x](y.md)`."},
		{"not in code", "guide", "/start", "\n[in code](../base-go/xdb.md)\n"},
		{"within the page", "guide", "/start", "[here](#first-step)"},
		{
			"from a directory", "guide", "/decisions/names",
			"[start](/docs/guide/start#first-step), [code](../../../core/x.go), [web](https://example.org/a.md).",
		},
		{"from the index", "guide", "/", "See [start](/docs/guide/start)."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if body := l.Find(tt.sector, tt.path).Body; !strings.Contains(body, tt.want) {
				t.Errorf("body = %q, want it to contain %q", body, tt.want)
			}
		})
	}
}

func TestPage_Markdown(t *testing.T) {
	got := load(t).Find("guide", "decisions/names").Markdown()
	if want := "# Names (/docs/guide/decisions/names)\n\nUp: "; !strings.HasPrefix(got, want) {
		t.Errorf("Markdown = %q, want it to start with %q", got, want)
	}
}

func TestPage_Import(t *testing.T) {
	const prefix = "github.com/plinthgo/plinth/"
	l := doctest.Library(t, map[string]string{
		"guide/start.md":    doctest.Page("Start", "`"+prefix+"core`"),
		"base-go/index.md":  doctest.Page("Index", "`"+prefix+"core`"),
		"base-go/xa.md":     doctest.Page("xa", "`"+prefix+"core/xa`.\n\nText of xa."),
		"base-go/xa.zh.md":  doctest.Page("xa", "中文。"),
		"base-go/xa-key.md": doctest.Page("xa keys", "Keys.\n\n```sh\ngo get "+prefix+"core\n```"),
		"base-go/xb.md": doctest.Page("xb",
			"It uses `"+prefix+"core/xb`, not `"+prefix+"core/xa`."),
		"base-go/xc.md": doctest.Page("xc", "Text."),
	})
	for _, test := range []struct{ name, sector, path, want, markdown string }{
		{
			"is the first path of the page", "base-go", "xb", "core/xb",
			"Import path: `" + prefix + "core/xb`\n\nIt uses",
		},
		{
			"replaces a paragraph that repeats it", "base-go", "xa", "core/xa",
			"Import path: `" + prefix + "core/xa`\n\nText of xa.",
		},
		{
			"is the path of the page in English", "base-go", "xa.zh", "core/xa",
			"Import path: `" + prefix + "core/xa`\n\n中文",
		},
		{
			"is the path of the page that it continues", "base-go", "xa-key", "core/xa",
			"Import path: `" + prefix + "core/xa`\n\nKeys.",
		},
		{"is empty if no page has one", "base-go", "xc", "", "(/docs/base-go/xc)\n\nText."},
		{"is empty for an index", "base-go", "/", "", "(/docs/base-go)\n\n`"},
		{"is empty in other sectors", "guide", "start", "", "(/docs/guide/start)\n\n`"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := l.Find(test.sector, test.path)
			if got := strings.TrimPrefix(p.Import, prefix); got != test.want {
				t.Errorf("import path: got %q, want %q", got, test.want)
			}
			if got := p.Markdown(); !strings.Contains(got, test.markdown) {
				t.Errorf("Markdown: got %q, want it to contain %q", got, test.markdown)
			}
		})
	}
}

func TestLibrary_Find(t *testing.T) {
	l := load(t)
	for _, path := range []string{
		"/decisions/names", "decisions/names", "decisions/names/", "/docs/guide/decisions/names",
		"docs/guide/decisions/names.md",
		"guide/decisions/names", "/decisions/names.md#why", "decisions/names?x=1",
		" /decisions/names ",
		"decisions/names.mdx", "/docs/guide/decisions/names.mdx#why",
	} {
		if p := l.Find("guide", path); p == nil || p.Path != "/decisions/names" {
			t.Errorf("Find(%q) = %v", path, p)
		}
	}
	for _, path := range []string{
		"", "/", "index", "index.md", "/docs/guide", "/docs/guide/",
		"docs/guide/index.md",
	} {
		if p := l.Find("guide", path); p == nil || p.Path != "/" {
			t.Errorf("Find(%q) = %v, want the index", path, p)
		}
	}
	for _, path := range []string{
		"names", "/docs/base-go/xdb", "../guide/start", "start.zh.zh",
		"/docs/guidestart",
	} {
		if p := l.Find("guide", path); p != nil {
			t.Errorf("Find(%q) = %s, want no page", path, p.URL())
		}
	}
	for _, sector := range []string{"guide.md", "guide.mdx"} {
		if p := l.Find(sector, ""); p == nil || p.URL() != "/docs/guide" {
			t.Errorf("Find of sector %q = %v, want the index", sector, p)
		}
	}
	if p := l.Find("guide", "start.md.mdx"); p != nil {
		t.Errorf("two suffixes: got %s", p.URL())
	}
	if p := l.Find("nowhere", "/start"); p != nil {
		t.Errorf("unknown sector: got %s", p.URL())
	}
	if p := l.Find("guide", "/start.zh.md"); p == nil || p.Language != page.Chinese ||
		p.Twin != l.Find("guide", "start") {
		t.Errorf("got translation %+v", p)
	}
}

func TestPage_Neighbors(t *testing.T) {
	l := load(t)
	start := l.Find("guide", "start")
	if start.Prev.Path != "/" || start.Next.Path != "/decisions/names" {
		t.Errorf("neighbors = %s, %s", start.Prev.Path, start.Next.Path)
	}
	if zh := start.Twin; zh.Prev != nil || zh.Next != nil {
		t.Errorf("neighbors of the only Chinese page = %v, %v", zh.Prev, zh.Next)
	}
	if p := l.Find("guide", "zzz"); p.Listed || p.Next != nil {
		t.Errorf("the page that is not listed = %+v", p)
	}
}

func TestLibrary_Nearest(t *testing.T) {
	l := load(t)
	if got := l.NearestSector("Go"); got[0] != "base-go" {
		t.Errorf("nearest of Go = %v", got)
	}
	if got := l.NearestSector("basego"); got[0] != "base-go" {
		t.Errorf("sectors = %q", got)
	}
	tests := []struct{ name, sector, path, want string }{
		{"a misspelt name", "base-go", "xdbb", "/docs/base-go/xdb"},
		{"with a prefix", "base-go", "/docs/base-go/xeror", "/docs/base-go/xerror"},
		{"a part of the path", "guide", "names", "/docs/guide/decisions/names"},
		{"the title", "guide", "quick-start", "/docs/guide/start"},
		{"a page of another sector", "guide", "xdb", "/docs/base-go/xdb"},
		{"no sector", "", "xerrors", "/docs/base-go/xerror"},
		{"very long", "guide", strings.Repeat("数", 5000), "/docs/guide"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := l.NearestPage(tt.sector, tt.path); len(got) == 0 || got[0].URL() != tt.want {
				t.Errorf("nearest = %v, want %s", got[0].URL(), tt.want)
			}
		})
	}
}

func TestSector_Tree_EmptyDirectory(t *testing.T) {
	files := content()
	files["guide/a b/c.md"] = doctest.Page("A", "One.")
	if got, want := len(doctest.Library(t, files).Sector("guide").Tree),
		len(load(t).Sector("guide").Tree); got != want {
		t.Errorf("got %d entries, want %d", got, want)
	}
}

func TestPage_Line(t *testing.T) {
	p := load(t).Find("guide", "start")
	if got := p.Line(1); got != 6 {
		t.Errorf("Line(1) = %d, want 6: four lines of front matter and an empty one", got)
	}
}
