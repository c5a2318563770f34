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

func TestLoad_Errors(t *testing.T) {
	t.Run("reports all problems at once", func(t *testing.T) {
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
			"guide/start.md: the front matter is missing",
			"base-go/xdb.md: front matter: the title is missing",
			"base-go/xerror.md: front matter:", "guide/decisions/order.yaml: yaml:",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %v\nwant it to contain %q", err, want)
			}
		}
		if _, err := page.Load(doctest.Files(nil)); err == nil {
			t.Error("an empty directory is loaded")
		}
	})

	t.Run("reports why all pages are skipped", func(t *testing.T) {
		_, err := page.Load(doctest.Files(
			map[string]string{"guide/a\nb.md": doctest.Page("A", "One.")}))
		if err == nil || !strings.Contains(err.Error(), "no sector found") ||
			!strings.Contains(err.Error(), `"guide/a\nb.md": the page is skipped; rename it: `) {
			t.Errorf("error = %v", err)
		}
	})
}

func TestLibrary_Faults(t *testing.T) {
	t.Run("order that lists missing pages", func(t *testing.T) {
		files := content()
		files["guide/decisions/order.yaml"] = "pages: [names, absent, names]\n"
		l := doctest.Library(t, files)
		want := []page.Fault{
			{
				File: "guide/decisions/order.yaml",
				Text: `it lists "absent", which does not exist or is listed twice`,
			},
			{
				File: "guide/decisions/order.yaml",
				Text: `it lists "names", which does not exist or is listed twice`,
			},
		}
		if diff := cmp.Diff(want, l.Faults()); diff != "" {
			t.Errorf("faults (-want +got):\n%s", diff)
		}
		if l.Find("guide", "decisions/names") == nil {
			t.Error("the existing page is missing")
		}
	})

	t.Run("duplicate address", func(t *testing.T) {
		files := content()
		files["guide/decisions.md"] = doctest.Page("A", "One.")
		files["guide/decisions/index.md"] = doctest.Page("B", "Another.")
		l := doctest.Library(t, files)
		want := []page.Fault{{
			File: "guide/decisions.md",
			Text: "the page is skipped: guide/decisions/index.md has the same address /docs/guide/decisions",
		}}
		if diff := cmp.Diff(want, l.Faults()); diff != "" {
			t.Errorf("faults (-want +got):\n%s", diff)
		}
		if got, want := len(l.Pages()), len(load(t).Pages())+1; got != want ||
			l.Find("guide", "decisions").Title != "B" {
			t.Errorf("got %d pages, want %d with the first of both", got, want)
		}
		for _, p := range l.Pages() {
			if p.Prev == p || p.Next == p || p.Next != nil && p.Next.Title == "A" ||
				p.Prev != nil &&
					p.Prev.Title == "A" {
				t.Errorf("%s links to the skipped page or to itself", p.URL())
			}
		}
		if l.File("guide/decisions.md") != nil ||
			len(l.Sector("guide").Tree) != len(load(t).Sector("guide").Tree) {
			t.Error("the skipped page is in the library or in the tree")
		}
	})
}

func TestLoad_Translation(t *testing.T) {
	t.Run("ignores symbolic links and directories", func(t *testing.T) {
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
	})

	t.Run("a translation of a translation is a page", func(t *testing.T) {
		files := content()
		files["guide/start.zh.zh.md"] = doctest.Page("Odd", "Twice.")
		for range 50 { // map order varies
			l := doctest.Library(t, files)
			if p := l.Find("guide", "start.zh.zh"); p == nil || p.Twin != nil ||
				l.Find("guide", "start").Twin == nil {
				t.Fatalf("page = %+v, want one without a twin", p)
			}
		}
	})
}

func TestLibrary_Faults_Names(t *testing.T) {
	const characters = ", but a name may only contain letters, digits, '-', '_' and '.'"
	tests := []struct{ name, file, want string }{
		{"an anchor", "guide/a#b.md", `"a#b" has '#'` + characters},
		{"a query", "guide/a?b.md", `"a?b" has '?'` + characters},
		{"an escape", "guide/a%20b.md", `"a%20b" has '%'` + characters},
		{"a quotation mark", `guide/a"b.md`, `"a\"b" has '"'` + characters},
		{"a backslash", `guide/a\b.md`, `"a\\b" has '\\'` + characters},
		{"a space", "guide/a b.md", `"a b" has ' '` + characters},
		{"a control character", "guide/a\x1bb.md", `"a\x1bb" has '\x1b'` + characters},
		{"a line break", "guide/a\nb.md", `"a\nb" has '\n'` + characters},
		{"a direction mark", "guide/a\u202eb.md", `"a\u202eb" has '\u202e'` + characters},
		{
			"an invisible letter", "guide/a\u3164b.md",
			"\"a\u3164b\" has " + `'\u3164'` + characters,
		},
		{
			"a variation selector", "guide/a\ufe0fb.md",
			"\"a\ufe0fb\" has " + `'\ufe0f'` + characters,
		},
		{
			"a directory called index", "guide/index/deep.md",
			`a directory must not have the name "index" of its page`,
		},
		{"invalid UTF-8", "guide/a\xffb.md", `"a\xffb" has '\ufffd'` + characters},
		{
			"the extension of HTML", "guide/index.html.md",
			`"index.html" ends in .html, like files that the site generates`,
		},
		{
			"the extension of HTML in upper case", "guide/Index.HTML.md",
			`"Index.HTML" ends in .html, like files that the site generates`,
		},
		{
			"the extension of Markdown", "guide/start.md.md",
			`"start.md" ends in .md, like files that the site generates`,
		},
		{
			"the extension of MDX", "guide/start.mdx.md",
			`"start.mdx" ends in .mdx, like files that the site generates`,
		},
		{"a directory", "guide/a b/c.md", `"a b" has ' '` + characters},
		{
			"a directory with the extension of Markdown", "guide/other.md/c.md",
			`"other.md" ends in .md, like files that the site generates`,
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
				Text: "the page is skipped; rename it: " + tt.want,
			}}
			if diff := cmp.Diff(want, l.Faults()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if len(l.Pages()) != pages || l.File(tt.file) != nil {
				t.Errorf("got %d pages, want %d", len(l.Pages()), pages)
			}
		})
	}
}

func TestLoad_Names(t *testing.T) {
	files := content()
	for _, name := range []string{"缓存", "Größe_2", "v1.2-rc.1", "हिन्दी"} {
		files["guide/"+name+".md"] = doctest.Page(name, "One.")
		l := doctest.Library(t, files)
		if len(l.Faults()) > 0 || l.Find("guide", name) == nil {
			t.Errorf("%s: faults = %v", name, l.Faults())
		}
	}
}

func TestLoad_Content(t *testing.T) {
	if n := len(doctest.RealLibrary(t).Pages()); n < 80 {
		t.Errorf("%d pages", n)
	}
}
