package main

import (
	"slices"
	"strings"
	"testing"
)

const testWords = "# a comment\nnobody|no one\t0\tno caller\nwhere\t100\tif, when\n" +
	"!quote.md\tnobody\ta quotation\n!a/b/\tno one\ta quotation\n"

func check(t *testing.T, name, src string) (string, *checker) {
	t.Helper()
	words, exceptions, err := readWords(testWords)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := extract(name, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c := &checker{out: &out, words: words, exceptions: exceptions, frequency: true}
	c.check(name, texts)
	c.checkFrequency()
	return out.String(), c
}

func TestChecker_Check(t *testing.T) {
	const goFile = "package a\n\n// Nobody calls it.\nvar s = \"no one\" // `nobody` is quoted\n\n" +
		"var nobody = `a\nNobody`\n"
	long := "package a\n\n\t// " + strings.Repeat("word ", 18) + "\n\n//go:generate " +
		strings.Repeat("word ", 18) + "\n\n//\t" + strings.Repeat("code ", 18) + "\n"
	for _, tt := range []struct {
		name, file, src string
		want            []string
	}{
		{
			"comments and strings of a Go file", "a.go", goFile,
			[]string{
				`a.go:3: "Nobody": write no caller`, `a.go:4: "no one": write no caller`,
				`a.go:7: "Nobody": write no caller`,
			},
		},
		{"a wide comment", "a.go", long, []string{
			"a.go:3: the comment reaches column 97, want at most 90",
		}},
		{
			"Markdown outside of code", "a.md",
			"nobody\n\n```go\n// nobody\n```\n\n`nobody` [it](nobody.md)\n\n    nobody\nkeywords: nobody\n",
			[]string{`a.md:1: "nobody": write no caller`},
		},
		{"a nested fence", "a.md", "````md\n```\nnobody\n```\n````\nnobody\n", []string{
			`a.md:6: "nobody": write no caller`,
		}},
		{"all lines of a makefile", "Makefile", "all: ## for nobody\n", []string{
			`Makefile:1: "nobody": write no caller`,
		}},
		{"no other file", "a.svg", "nobody", nil},
		{"no exception", "quote.md", "Nobody", nil},
		{"no exception of a directory", "a/b/c.md", "no one", nil},
		{"the word of an exception only", "a/b.md", "no one", []string{
			`a/b.md:1: "no one": write no caller`,
		}},
		{
			"not the output of an example", "a.go",
			"package a\n\nfunc f() {\n\t// Output: nobody\n\t// " + strings.Repeat("word ", 18) +
				"\n}\n", nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, c := check(t, tt.file, tt.src)
			got := strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })
			if !slices.Equal(got, tt.want) || c.problems != len(tt.want) {
				t.Errorf("%d problems:\n%s\nwant\n%s", c.problems, out, strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestChecker_CheckFrequency(t *testing.T) {
	prose := strings.Repeat("word ", 18) // 20 words with the two below: limit 2
	if out, _ := check(t, "a.md", prose+"where Where"); out != "" {
		t.Errorf("2 in 20 words: %s, want no problem", out)
	}
	out, _ := check(t, "a.md", prose+"where Where where")
	if want := `"where" occurs 142.86 times in 1,000 words`; !strings.HasPrefix(out, want) {
		t.Errorf("3 in 21 words: %q, want %s...", out, want)
	}
}

func TestReadWords(t *testing.T) {
	t.Run("the list of the project", func(t *testing.T) {
		words, _, err := readWords(list)
		if err != nil || len(words) < 40 {
			t.Errorf("%d words, %v", len(words), err)
		}
	})
	for _, line := range []string{"a\t0", "(\t0\tb", "a\tnever\tb"} {
		if _, _, err := readWords("\n" + line); err == nil || !strings.Contains(err.Error(), "words.txt:2") {
			t.Errorf("readWords(%q) = %v, want an error with the line", line, err)
		}
	}
}
