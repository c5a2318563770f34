package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const page = "---\ntitle: T\n---\n\n```mermaid\n\nflowchart LR\n  A --> B\n```\n\n" +
	"1. a list\n\n   ```mermaid\n   flowchart LR\n     A --> C\n   ```\n\n```go\nx := 1\n```\n\n````md\n```mermaid\nnot a diagram\n```\n````\n"

func TestFind(t *testing.T) {
	found, err := find(fstest.MapFS{
		"guide/a.md":      {Data: []byte(page)},
		"guide/a.zh.md":   {Data: []byte("```mermaid\nflowchart LR\n  A --> B\n```\n")},
		"guide/notes.txt": {Data: []byte("```mermaid\nx\n```\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for name, s := range found {
		if name != s.name() || len(name) != 16 {
			t.Errorf("name = %q of %q", name, s.name())
		}
		got = append(got, s.file+": "+s.code)
	}
	slices.Sort(got)
	if want := []string{
		"guide/a.md: flowchart LR\n  A --> B",
		"guide/a.md: flowchart LR\n  A --> C",
	}; !slices.Equal(got, want) {
		t.Errorf("diagrams = %q, want %q", got, want)
	}
}

func TestCompare(t *testing.T) {
	complete, partial, absent := source{code: "1"}, source{code: "2"}, source{code: "3"}
	have := []string{
		"0123456789abcdef.dark.svg", complete.name() + ".light.svg",
		complete.name() + ".dark.svg", partial.name() + ".light.svg",
	}
	missing, left := compare(map[string]source{
		complete.name(): complete, partial.name(): partial,
		absent.name(): absent,
	}, have)
	if len(missing) != 2 || slices.Contains(missing, complete) {
		t.Errorf("missing = %v, want the second and the third", missing)
	}
	if want := have[:1]; !slices.Equal(left, want) {
		t.Errorf("left = %q, want %q", left, want)
	}
}

func TestCheckSelfContained(t *testing.T) {
	const size = ` viewBox="0 0 1 1" width="1" height="1"`
	for _, tc := range []struct {
		name, svg string
		want      string // in the error
	}{
		{name: "self-contained", svg: `<svg` + size +
			`><style>a{fill:url(#g)}</style><path marker-end="url(#m)"/><use href="#x"/></svg>`},
		{name: "no size", svg: `<svg viewBox="0 0 1 1"/>`, want: "width"},
		{name: "a script", svg: `<svg` + size + `><script/></svg>`, want: "script"},
		{name: "HTML", svg: `<svg` + size + `><foreignObject/></svg>`, want: "foreignObject"},
		{name: "a handler", svg: `<svg` + size + `><g onclick="x"/></svg>`, want: "onclick"},
		{
			name: "another file", svg: `<svg` + size + `><use href="https://example.org/x"/></svg>`,
			want: "href",
		},
		{
			name: "a font of another host", svg: `<svg` + size + `><style>@import "x"</style></svg>`,
			want: "style sheet",
		},
		{
			name: "an address in a style", svg: `<svg` + size + `><g style="fill:url(x.svg)"/></svg>`,
			want: "style",
		},
		{name: "broken", svg: `<svg` + size + `><g></svg>`, want: "XML"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := checkSelfContained(tc.svg)
			if (err != nil) != (tc.want != "") || err != nil &&
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestPictures(t *testing.T) {
	t.Chdir("../..")
	sources, err := find(os.DirFS(contentDir))
	if err != nil {
		t.Fatal(err)
	}
	have, err := pictures(picturesDir)
	if err != nil {
		t.Fatal(err)
	}
	missing, left := compare(sources, have)
	if len(missing) > 0 || len(left) > 0 {
		t.Errorf("missing %v, left %v: run make diagrams", missing, left)
	}
	for _, name := range have {
		svg, err := os.ReadFile(filepath.Join(picturesDir, name))
		if err == nil {
			err = checkSelfContained(string(svg))
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
