package check_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/check"
	"github.com/plinthgo/plinth/docs/internal/doctest"
)

const description = "A description that is as long as it has to be, and no longer."

// valid returns a documentation without findings.
func valid() map[string]string {
	return map[string]string{
		"guide/order.yaml": "title: Guide\ndescription: How to find what is wrong with a page of the documentation.\npages: [start, other]\n",
		"guide/start.md": doc(description,
			"`github.com/plinthgo/plinth/core/good`\n\n## One\n\n[two](other.md#two)\n\n```go\nGreet(\"Ada\") // says hello\n```\n"),
		"guide/start.zh.md": doc("说明这一页讲什么以及读者能得到什么。", "## 一\n"),
		"guide/other.md": doc(description,
			"## Two\n\n[up](#two), [file](https://github.com/plinthgo/plinth/blob/main/core/good/good.go#L1)\n"),
	}
}

func doc(description, body string) string {
	return fmt.Sprintf("---\ntitle: Page\ndescription: %q\n---\n\n%s", description, body)
}

// repository returns a repository with one public package and several that cannot be
// imported.
func repository() map[string]string {
	return map[string]string{
		"README.md":                   "# It\n\n[page](docs/content/guide/other.md#two)\n\n```go\nfunc Greet(name string)\n```\n",
		"README.zh.md":                "# 它\n\n[页面](docs/content/guide/other.md#two)\n\n```go\nfunc Greet(name string)\n```\n",
		"docs/content/guide/other.md": "",
		"core/good/good.go":           "// Package good greets.\npackage good\n\n// Greet says hello.\nfunc Greet(name string) {\n\tprintln(\"Hello\", name)\n}\n",
		"core/good/good_test.go":      "package good_test\n\nfunc ExampleGreet() {\n\tGreet(\n\t\t\"Ada\")\n\tGreet(\"Bob\")\n}\n",
		"core/good/good.proto":        "syntax = \"proto3\";\n\n// A Greeting is said.\nmessage Greeting {\n  string text = 1; // the words\n}\n",
		"core/internal/x/x.go":        "package x\n",
		"tools/run/main.go":           "package main\n",
		"docs/cmd/run/main.go":        "// Run runs.\npackage main\n",
		".hidden/y/y.go":              "package y\n",
	}
}

func run(t *testing.T, files map[string]string, repository fs.FS) []string {
	t.Helper()
	lines, err := check.Run(check.Config{
		Library: doctest.Library(t, files), Repository: repository,
		HasDiagram: func(source string) bool { return strings.Contains(source, "rendered") },
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestRun(t *testing.T) {
	t.Run("returns no findings for a valid documentation", func(t *testing.T) {
		if got := run(t, valid(), doctest.Files(repository())); len(got) > 0 {
			t.Errorf("findings = %q", got)
		}
	})

	t.Run("ignores omitted lines and white space", func(t *testing.T) {
		files := valid()
		files["guide/other.md"] = doc(description,
			"## Two\n\n```proto\nmessage Greeting { string text = 1; }\n```\n\n> ```go\n> Greet(\"Ada\")\n>   // ...\n> }\n> ```\n")
		if got := run(t, files, doctest.Files(repository())); len(got) > 0 {
			t.Errorf("findings = %q", got)
		}
	})

	t.Run("reports a public package without a page", func(t *testing.T) {
		root := repository()
		root["core/lonely/lonely.go"] = "package lonely\n"
		want := []string{"docs/content: no page documents package core/lonely: mention `github.com/plinthgo/plinth/core/lonely` on its page"}
		if diff := cmp.Diff(want, run(t, valid(), doctest.Files(root))); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})

	t.Run("skips code without a repository", func(t *testing.T) {
		files := valid()
		files["guide/other.md"] = doc(description, "## Two\n\n```go\nGreet(\"Eve\")\n```\n")
		if got := run(t, files, nil); len(got) > 0 {
			t.Errorf("findings = %q", got)
		}
	})
}

func TestRun_Findings(t *testing.T) {
	root := repository()
	tests := []struct{ name, file, text, want string }{
		{
			"no description", "guide/other.md",
			doc("", "## Two"), "guide/other.md: the front matter has no description",
		},
		{
			"a short description", "guide/other.md", doc("Short.", "## Two"),
			"guide/other.md: the description has 6 characters: want one line of 40 to 180",
		},
		{
			"a second title", "guide/other.md", doc(description, "# Page\n\n## Two"),
			`guide/other.md: heading "Page" has level 1, which is reserved for the title`,
		},
		{
			"no such page", "guide/other.md", doc(description, "## Two\n\n[x](gone.md)"),
			`guide/other.md:8: link "gone.md": the page does not exist`,
		},
		{
			"no such heading", "guide/other.md", doc(description, "## Two\n\n[x](start.md#gone)"),
			`guide/other.md:8: link "start.md#gone": guide/start.md does not have the heading`,
		},
		{
			"a path of the site", "guide/other.md",
			doc(description, "## Two\n\n[x](/docs/guide/start)"),
			`guide/other.md:8: link "/docs/guide/start": want a relative path of a .md page or an absolute URL`,
		},
		{
			"a file that is not a page", "guide/other.md",
			doc(description, "## Two\n\n[x](../../x.go)"),
			`guide/other.md:8: link "../../x.go": want a relative path of a .md page or an absolute URL`,
		},
		{
			"a missing source", "guide/other.md",
			doc(description, "## Two\n\n[x](https://github.com/plinthgo/plinth/tree/main/core/gone)"), `guide/other.md:8: link "https://github.com/plinthgo/plinth/tree/main/core/gone": core/gone does not exist`,
		},
		{
			"an orphan", "guide/more.md", doc(description, ""),
			"guide/more.md: no order.yaml lists the page: add it to the one of its directory",
		},
		{
			"a translation without its page", "guide/more.zh.md",
			doc("说明这一页讲什么以及读者能得到什么。", ""), "guide/more.zh.md: the English page does not exist",
		},
		{
			"an outdated translation", "guide/start.zh.md",
			doc("说明这一页讲什么以及读者能得到什么。", ""),
			"guide/start.zh.md: it has 0 headings, the English page has 1: update the translation",
		},
		{
			"a sector without a description", "guide/order.yaml", "pages: [start, other]",
			"guide/order.yaml: the sector has no description",
		},
		{
			"a short description of a sector", "guide/order.yaml",
			"description: x\npages: [start, other]",
			"guide/order.yaml: the description has 1 characters: want one line of 40 to 180",
		},
		{
			"other code, language in upper case", "guide/other.md",
			doc(description, "## Two\n\n```Go\nGreet(\"Eve\")\n```\n"),
			"guide/other.md:9: this code does not occur in any .go file of the repository: copy compiled code, for example from examples/snippets",
		},
		{
			"other code, another name of the language", "guide/other.md",
			doc(description, "## Two\n\n```golang\nGreet(\"Eve\")\n```\n"),
			"guide/other.md:9: this code does not occur in any .go file of the repository: copy compiled code, for example from examples/snippets",
		},
		{
			"an order with a missing page", "guide/order.yaml",
			"description: How to find what is wrong with a page of the documentation.\npages: [start, other, gone]", `guide/order.yaml: it lists "gone", which does not exist or is listed twice`,
		},
		{
			"an invalid name", "guide/a#b.md",
			doc(description, ""),
			`guide/a#b.md: the page is skipped; rename it: "a#b" has '#', but a name may only contain letters, digits, '-', '_' and '.'`,
		},
		{
			"a name with a control character", "guide/a\x1bb.md",
			doc(description, ""),
			`"guide/a\x1bb.md": the page is skipped; rename it: "a\x1bb" has '\x1b', but a name may only contain letters, digits, '-', '_' and '.'`,
		},
		{
			"a diagram", "guide/other.md",
			doc(description, "## Two\n\n```mermaid\nflowchart LR\n```\n"),
			"guide/other.md:9: the diagram is not rendered: run make diagrams",
		},
		{
			"other code", "guide/other.md",
			doc(description, "## Two\n\n```go\nGreet(\"Eve\")\n```\n"),
			"guide/other.md:9: this code does not occur in any .go file of the repository: copy compiled code, for example from examples/snippets",
		},
		{
			"a part of a token", "guide/other.md",
			doc(description, "## Two\n\n```go\nreet(\"Bob\")\n```\n"),
			"guide/other.md:9: this code does not occur in any .go file of the repository: copy compiled code, for example from examples/snippets",
		},
		{
			"parts in another order", "guide/other.md",
			doc(description, "## Two\n\n```go\nGreet(\"Bob\")\n// ...\nGreet(\"Ada\")\n```\n"),
			"guide/other.md:9: this code does not occur in any .go file of the repository: copy compiled code, for example from examples/snippets",
		},
		{
			"another message", "guide/other.md",
			doc(description, "## Two\n\n```proto\nmessage Note {}\n```\n"),
			"guide/other.md:9: this code does not occur in any .proto file of the repository: copy compiled code, for example from examples/snippets",
		},
		{
			"no code", "guide/other.md", doc(description, "## Two\n\n```go\n// only words\n```\n"),
			"guide/other.md:9: the block contains no code",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := valid()
			files[tt.file] = tt.text
			got := run(t, files, doctest.Files(root))
			if !slices.Contains(got, tt.want) {
				t.Errorf("findings = %q, want %q in the list", got, tt.want)
			}
		})
	}
}

func TestRun_README(t *testing.T) {
	for _, file := range []string{"README.md", "README.zh.md"} {
		t.Run(file, func(t *testing.T) {
			root := repository()
			text := "[a](gone.md) [b](docs/content/guide/other.md#gone)\n\n```go\nfunc Greet(name int)\n```\n"
			root[file] = text
			want := []string{
				file + `: link "gone.md": the file does not exist`,
				file + `: link "docs/content/guide/other.md#gone": the page does not have the heading`,
				file + ":4: this code does not occur in any .go file of the repository: copy compiled code, for example from examples/snippets",
			}
			if diff := cmp.Diff(want, run(t, valid(), doctest.Files(root))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRun_ImportPath(t *testing.T) {
	const good = "`github.com/plinthgo/plinth/core/good`"
	for _, test := range []struct {
		name string
		page string
		want []string
	}{
		{"accepts a public package", good + " greets.", []string{}},
		{
			"reports a page without one", "Greets.",
			[]string{"base-go/good.md: the page has no import path: name the package, such as `github.com/plinthgo/plinth/core`"},
		},
		{
			"reports an unknown package", "`github.com/plinthgo/plinth/core/bad`",
			[]string{`base-go/good.md: import path "github.com/plinthgo/plinth/core/bad": the package does not exist`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := valid()
			files["base-go/order.yaml"] = "title: Go\ndescription: How to find what is wrong with a page of the documentation.\npages: [good]\n"
			files["base-go/index.md"] = doc(description, "Packages.")
			files["base-go/good.md"] = doc(description, test.page)
			got := run(t, files, doctest.Files(repository()))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
