package page_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/doctest"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// content is a documentation with what a real one has: an index, a folder, groups,
// translations, a page that no order names.
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
		"guide/zzz.md":       doctest.Page("Orphan", "Nobody names it."),
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

func TestPagesComeInTheAuthoredOrder(t *testing.T) {
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

func TestTreeHasFoldersGroupsAndTitlesInBothLanguages(t *testing.T) {
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

func TestLinksBecomeAddressesOfTheSite(t *testing.T) {
	l := load(t)
	tests := []struct{ name, sector, path, want string }{
		{"to another sector", "guide", "/start", "[xdb](/docs/base-go/xdb#open) and `[x](y.md)`."},
		{"not in code", "guide", "/start", "\n[in code](../base-go/xdb.md)\n"},
		{"within the page", "guide", "/start", "[here](#first-step)"},
		{
			"from a folder", "guide", "/decisions/names",
			"[start](/docs/guide/start#first-step), [code](../../../core/x.go), [web](https://example.org/a.md).",
		},
		{"from the index", "guide", "/", "See [start](/docs/guide/start)."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if body := l.Find(tt.sector, tt.path).Body; !strings.Contains(body, tt.want) {
				t.Errorf("body = %q, want it to hold %q", body, tt.want)
			}
		})
	}
}

func TestMarkdownBeginsWithTitleAndAddress(t *testing.T) {
	got := load(t).Find("guide", "decisions/names").Markdown()
	if want := "# Names (/docs/guide/decisions/names)\n\nUp: "; !strings.HasPrefix(got, want) {
		t.Errorf("Markdown = %q, want it to begin with %q", got, want)
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
		"base-go/xb.md":     doctest.Page("xb", "It uses `"+prefix+"core/xb`, not `"+prefix+"core/xa`."),
		"base-go/xc.md":     doctest.Page("xc", "Text."),
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

func TestFindTakesAPathInAnyOfItsForms(t *testing.T) {
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
			t.Errorf("Find(%q) = %s, want none", path, p.URL())
		}
	}
	for _, sector := range []string{"guide.md", "guide.mdx"} {
		if p := l.Find(sector, ""); p == nil || p.URL() != "/docs/guide" {
			t.Errorf("Find of sector %q = %v, want the index", sector, p)
		}
	}
	if p := l.Find("guide", "start.md.mdx"); p != nil {
		t.Errorf("two endings: %s", p.URL())
	}
	if p := l.Find("nowhere", "/start"); p != nil {
		t.Errorf("a page of an unknown sector: %s", p.URL())
	}
	if p := l.Find("guide", "/start.zh.md"); p == nil || p.Language != page.Chinese ||
		p.Twin != l.Find("guide", "start") {
		t.Errorf("the translation is %+v", p)
	}
}

func TestNeighboursStayWithinSectorAndLanguage(t *testing.T) {
	l := load(t)
	start := l.Find("guide", "start")
	if start.Prev.Path != "/" || start.Next.Path != "/decisions/names" {
		t.Errorf("neighbours = %s, %s", start.Prev.Path, start.Next.Path)
	}
	if zh := start.Twin; zh.Prev != nil || zh.Next != nil {
		t.Errorf("the only Chinese page has neighbours: %v, %v", zh.Prev, zh.Next)
	}
	if p := l.Find("guide", "zzz"); p.Listed || p.Next != nil {
		t.Errorf("the page that no order names = %+v", p)
	}
}

func TestTheNearestIsSuggested(t *testing.T) {
	l := load(t)
	if got := l.NearestSector("Go"); got[0] != "base-go" {
		t.Errorf("nearest of Go = %v", got)
	}
	if got := l.NearestSector("basego"); got[0] != "base-go" {
		t.Errorf("sectors = %q", got)
	}
	tests := []struct{ name, sector, path, want string }{
		{"a slip", "base-go", "xdbb", "/docs/base-go/xdb"},
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

func TestLoadReportsEveryProblemAtOnce(t *testing.T) {
	files := content()
	files["guide/start.md"] = "no front matter"
	files["base-go/xdb.md"] = "---\ndescription: x\n---\n"
	files["base-go/xerror.md"] = "---\ntitle: x\nauthor: y\n---\n"
	files["guide/decisions/order.yaml"] = "page: [names]\n"
	_, err := page.Load(doctest.Files(files))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"guide/start.md: it does not begin with front matter",
		"base-go/xdb.md: front matter: there is no title",
		"base-go/xerror.md: front matter:", "guide/decisions/order.yaml: yaml:",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v\nwant it to hold %q", err, want)
		}
	}
	if _, err := page.Load(doctest.Files(nil)); err == nil {
		t.Error("an empty folder was taken for a documentation")
	}
}

func TestAnOrderThatNamesNothingIsNoReasonToShowNothing(t *testing.T) {
	files := content()
	files["guide/decisions/order.yaml"] = "pages: [names, absent, names]\n"
	l := doctest.Library(t, files)
	want := []page.Fault{
		{
			File: "guide/decisions/order.yaml",
			Text: `it names "absent", which is not there or named twice`,
		},
		{
			File: "guide/decisions/order.yaml",
			Text: `it names "names", which is not there or named twice`,
		},
	}
	if diff := cmp.Diff(want, l.Faults()); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if l.Find("guide", "decisions/names") == nil {
		t.Error("the page that is there is not shown")
	}
}

func TestTwoPagesOfOneAddressAreAFault(t *testing.T) {
	files := content()
	files["guide/decisions.md"] = doctest.Page("A", "One.")
	files["guide/decisions/index.md"] = doctest.Page("B", "Another.")
	l := doctest.Library(t, files)
	want := []page.Fault{{
		File: "guide/decisions.md",
		Text: "the page is left out: its address /docs/guide/decisions is that of guide/decisions/index.md too",
	}}
	if diff := cmp.Diff(want, l.Faults()); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if got, want := len(l.Pages()), len(load(t).Pages())+1; got != want ||
		l.Find("guide", "decisions").Title != "B" {
		t.Errorf("%d pages, want %d, of which the first is shown", got, want)
	}
	for _, p := range l.Pages() {
		if p.Prev == p || p.Next == p || p.Next != nil && p.Next.Title == "A" || p.Prev != nil &&
			p.Prev.Title == "A" {
			t.Errorf("%s leads to the page that is left out, or to itself", p.URL())
		}
	}
	if l.File("guide/decisions.md") != nil ||
		len(l.Sector("guide").Tree) != len(load(t).Sector("guide").Tree) {
		t.Error("the page that is left out is a file of the library, or in the tree")
	}
}

func TestATranslationIsARegularFile(t *testing.T) {
	files := doctest.Files(content())
	files["guide/start.zh.md"] = &fstest.MapFile{Data: []byte("zzz.md"), Mode: fs.ModeSymlink}
	files["guide/zzz.zh.md/deep.txt"] = &fstest.MapFile{}
	l, err := page.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	if p := l.Find("guide", "start"); p == nil || p.Twin != nil {
		t.Errorf("start = %+v, want it without a translation", p)
	}
}

func TestATranslationOfATranslationIsAPageEachTime(t *testing.T) {
	files := content()
	files["guide/start.zh.zh.md"] = doctest.Page("Odd", "Twice.")
	for range 50 { // the order of a map differs
		l := doctest.Library(t, files)
		if p := l.Find("guide", "start.zh.zh"); p == nil || p.Twin != nil ||
			l.Find("guide", "start").Twin == nil {
			t.Fatalf("page = %+v, want one without a twin", p)
		}
	}
}

func TestAFileWhoseNameIsNoAddressIsLeftOut(t *testing.T) {
	const characters = ", but a name has letters, digits, '-', '_' and '.' only"
	tests := []struct{ name, file, want string }{
		{"an anchor", "guide/a#b.md", `"a#b" has '#'` + characters},
		{"a query", "guide/a?b.md", `"a?b" has '?'` + characters},
		{"an escape", "guide/a%20b.md", `"a%20b" has '%'` + characters},
		{"a quotation mark", `guide/a"b.md`, `"a\"b" has '"'` + characters},
		{"a backslash", `guide/a\b.md`, `"a\\b" has '\\'` + characters},
		{"a blank", "guide/a b.md", `"a b" has ' '` + characters},
		{"a control character", "guide/a\x1bb.md", `"a\x1bb" has '\x1b'` + characters},
		{"a line break", "guide/a\nb.md", `"a\nb" has '\n'` + characters},
		{"a direction", "guide/a\u202eb.md", `"a\u202eb" has '\u202e'` + characters},
		{
			"a letter that nobody sees", "guide/a\u3164b.md",
			"\"a\u3164b\" has " + `'\u3164'` + characters,
		},
		{"a variation", "guide/a\ufe0fb.md", "\"a\ufe0fb\" has " + `'\ufe0f'` + characters},
		{
			"a folder called index", "guide/index/deep.md",
			`a folder has the name "index", which is that of its page`,
		},
		{"no UTF-8", "guide/a\xffb.md", `"a\xffb" has '\ufffd'` + characters},
		{
			"the file of a page", "guide/index.html.md",
			`"index.html" ends in .html, as files that the site makes`,
		},
		{
			"such a file in capitals", "guide/Index.HTML.md",
			`"Index.HTML" ends in .html, as files that the site makes`,
		},
		{
			"the text of a page", "guide/start.md.md",
			`"start.md" ends in .md, as files that the site makes`,
		},
		{
			"another ending of texts", "guide/start.mdx.md",
			`"start.mdx" ends in .mdx, as files that the site makes`,
		},
		{"a folder", "guide/a b/c.md", `"a b" has ' '` + characters},
		{
			"a folder in the place of a text", "guide/other.md/c.md",
			`"other.md" ends in .md, as files that the site makes`,
		},
		{"a sector", "a b/c.md", `"a b" has ' '` + characters},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := content()
			pages := len(doctest.Library(t, files).Pages())
			files[tt.file] = doctest.Page("A", "One.")
			l := doctest.Library(t, files)
			want := []page.Fault{{
				File: tt.file,
				Text: "the page is left out; rename it: " + tt.want,
			}}
			if diff := cmp.Diff(want, l.Faults()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if len(l.Pages()) != pages || l.File(tt.file) != nil {
				t.Errorf("%d pages, want %d", len(l.Pages()), pages)
			}
		})
	}
}

func TestANameMayHaveLettersOfAnyLanguage(t *testing.T) {
	files := content()
	for _, name := range []string{"缓存", "Größe_2", "v1.2-rc.1", "हिन्दी"} {
		files["guide/"+name+".md"] = doctest.Page(name, "One.")
		l := doctest.Library(t, files)
		if len(l.Faults()) > 0 || l.Find("guide", name) == nil {
			t.Errorf("%s: faults = %v", name, l.Faults())
		}
	}
}

func TestAFolderWithoutPagesIsNotShown(t *testing.T) {
	files := content()
	files["guide/a b/c.md"] = doctest.Page("A", "One.")
	if got, want := len(doctest.Library(t, files).Sector("guide").Tree),
		len(load(t).Sector("guide").Tree); got != want {
		t.Errorf("%d entries, want %d", got, want)
	}
}

func TestWhereEveryPageIsLeftOutTheReasonIsSaid(t *testing.T) {
	_, err := page.Load(doctest.Files(
		map[string]string{"guide/a\nb.md": doctest.Page("A", "One.")}))
	if err == nil || !strings.Contains(err.Error(), "there is no sector") ||
		!strings.Contains(err.Error(), `"guide/a\nb.md": the page is left out; rename it: `) {
		t.Errorf("error = %v", err)
	}
}

func TestALineOfThePageIsFoundInItsFile(t *testing.T) {
	p := load(t).Find("guide", "start")
	if got := p.Line(1); got != 6 {
		t.Errorf("Line(1) = %d, want 6: four lines of front matter and an empty one", got)
	}
}

func TestTheContentOfThisModuleLoads(t *testing.T) {
	if n := len(doctest.RealLibrary(t).Pages()); n < 80 {
		t.Errorf("%d pages", n)
	}
}
