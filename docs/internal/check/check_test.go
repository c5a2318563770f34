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

// sound is a documentation in which nothing is wrong.
func sound() map[string]string {
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

// repository has one public package, and some that nobody can import.
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

func TestNothingIsWrongWithASoundDocumentation(t *testing.T) {
	if got := run(t, sound(), doctest.Files(repository())); len(got) > 0 {
		t.Errorf("findings = %q", got)
	}
}

func TestEachKindOfFaultIsFoundWhereItIs(t *testing.T) {
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
			`guide/other.md: heading "Page" has level 1, which is the title's`,
		},
		{
			"no such page", "guide/other.md", doc(description, "## Two\n\n[x](gone.md)"),
			`guide/other.md:8: link "gone.md": there is no such page`,
		},
		{
			"no such heading", "guide/other.md", doc(description, "## Two\n\n[x](start.md#gone)"),
			`guide/other.md:8: link "start.md#gone": guide/start.md has no such heading`,
		},
		{
			"an address of the site", "guide/other.md",
			doc(description, "## Two\n\n[x](/docs/guide/start)"),
			`guide/other.md:8: link "/docs/guide/start": want a page relative to this one, with .md, or a whole address`,
		},
		{
			"a file that is not a page", "guide/other.md",
			doc(description, "## Two\n\n[x](../../x.go)"),
			`guide/other.md:8: link "../../x.go": want a page relative to this one, with .md, or a whole address`,
		},
		{
			"a source that is gone", "guide/other.md",
			doc(description, "## Two\n\n[x](https://github.com/plinthgo/plinth/tree/main/core/gone)"), `guide/other.md:8: link "https://github.com/plinthgo/plinth/tree/main/core/gone": there is no core/gone`,
		},
		{
			"an orphan", "guide/more.md", doc(description, ""),
			"guide/more.md: no order.yaml names the page: add it to that of its folder",
		},
		{
			"a translation without its page", "guide/more.zh.md",
			doc("说明这一页讲什么以及读者能得到什么。", ""), "guide/more.zh.md: there is no English page beside it",
		},
		{
			"a translation that lags behind", "guide/start.zh.md",
			doc("说明这一页讲什么以及读者能得到什么。", ""),
			"guide/start.zh.md: it has 0 headings, the English page 1: translate what has changed",
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
			"other code in a fence of capitals", "guide/other.md",
			doc(description, "## Two\n\n```Go\nGreet(\"Eve\")\n```\n"),
			"guide/other.md:9: this code stands in no .go file of the repository: quote what compiles, as in examples/snippets",
		},
		{
			"other code by another name of the language", "guide/other.md",
			doc(description, "## Two\n\n```golang\nGreet(\"Eve\")\n```\n"),
			"guide/other.md:9: this code stands in no .go file of the repository: quote what compiles, as in examples/snippets",
		},
		{
			"an order of what is not there", "guide/order.yaml",
			"description: How to find what is wrong with a page of the documentation.\npages: [start, other, gone]", `guide/order.yaml: it names "gone", which is not there or named twice`,
		},
		{
			"a name that is no address", "guide/a#b.md",
			doc(description, ""),
			`guide/a#b.md: the page is left out; rename it: "a#b" has '#', but a name has letters, digits, '-', '_' and '.' only`,
		},
		{
			"a name that acts on a terminal", "guide/a\x1bb.md",
			doc(description, ""),
			`"guide/a\x1bb.md": the page is left out; rename it: "a\x1bb" has '\x1b', but a name has letters, digits, '-', '_' and '.' only`,
		},
		{
			"a diagram", "guide/other.md",
			doc(description, "## Two\n\n```mermaid\nflowchart LR\n```\n"),
			"guide/other.md:9: the diagram was not rendered: run make diagrams",
		},
		{
			"other code", "guide/other.md",
			doc(description, "## Two\n\n```go\nGreet(\"Eve\")\n```\n"),
			"guide/other.md:9: this code stands in no .go file of the repository: quote what compiles, as in examples/snippets",
		},
		{
			"half a token", "guide/other.md",
			doc(description, "## Two\n\n```go\nreet(\"Bob\")\n```\n"),
			"guide/other.md:9: this code stands in no .go file of the repository: quote what compiles, as in examples/snippets",
		},
		{
			"parts in another order", "guide/other.md",
			doc(description, "## Two\n\n```go\nGreet(\"Bob\")\n// ...\nGreet(\"Ada\")\n```\n"),
			"guide/other.md:9: this code stands in no .go file of the repository: quote what compiles, as in examples/snippets",
		},
		{
			"another message", "guide/other.md",
			doc(description, "## Two\n\n```proto\nmessage Note {}\n```\n"),
			"guide/other.md:9: this code stands in no .proto file of the repository: quote what compiles, as in examples/snippets",
		},
		{
			"no code", "guide/other.md", doc(description, "## Two\n\n```go\n// only words\n```\n"),
			"guide/other.md:9: the block holds no code",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := sound()
			files[tt.file] = tt.text
			got := run(t, files, doctest.Files(root))
			if !slices.Contains(got, tt.want) {
				t.Errorf("findings = %q, want %q among them", got, tt.want)
			}
		})
	}
}

func TestAQuotationMayLeaveOutLinesAndSpace(t *testing.T) {
	files := sound()
	files["guide/other.md"] = doc(description,
		"## Two\n\n```proto\nmessage Greeting { string text = 1; }\n```\n\n> ```go\n> Greet(\"Ada\")\n>   // ...\n> }\n> ```\n")
	if got := run(t, files, doctest.Files(repository())); len(got) > 0 {
		t.Errorf("findings = %q", got)
	}
}

func TestAPublicPackageWantsAPage(t *testing.T) {
	root := repository()
	root["core/lonely/lonely.go"] = "package lonely\n"
	want := []string{"docs/content: no page is about package core/lonely: one has to hold `github.com/plinthgo/plinth/core/lonely`"}
	if diff := cmp.Diff(want, run(t, sound(), doctest.Files(root))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestRun_README(t *testing.T) {
	for _, file := range []string{"README.md", "README.zh.md"} {
		t.Run(file, func(t *testing.T) {
			root := repository()
			text := "[a](gone.md) [b](docs/content/guide/other.md#gone)\n\n```go\nfunc Greet(name int)\n```\n"
			root[file] = text
			want := []string{
				file + `: link "gone.md": there is no such file`,
				file + `: link "docs/content/guide/other.md#gone": the page has no such heading`,
				file + ":4: this code stands in no .go file of the repository: quote what compiles, as in examples/snippets",
			}
			if diff := cmp.Diff(want, run(t, sound(), doctest.Files(root))); diff != "" {
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
			[]string{`base-go/good.md: import path "github.com/plinthgo/plinth/core/bad": there is no such package`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := sound()
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

func TestWithoutTheRepositoryTheCodeIsLeftOut(t *testing.T) {
	files := sound()
	files["guide/other.md"] = doc(description, "## Two\n\n```go\nGreet(\"Eve\")\n```\n")
	if got := run(t, files, nil); len(got) > 0 {
		t.Errorf("findings = %q", got)
	}
}
