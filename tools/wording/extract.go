package main

import (
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// commentWidth is the last column of a comment; a tab is 4 columns wide.
const commentWidth = 90

// text is a line that a reader sees.
type text struct {
	line  int
	s     string
	prose bool // counts for frequencies: a comment or a page, not a string
	width int  // column of its end, for comments on separate lines
}

func extract(name string, src []byte) ([]text, error) {
	switch {
	case strings.HasSuffix(name, ".go"):
		return goTexts(name, src)
	case strings.HasSuffix(name, ".md"):
		return markdownTexts(string(src)), nil
	}
	switch path.Ext(name) {
	case ".yml", ".yaml", ".tmpl", ".proto", ".html", ".sql", ".subject", ".txt":
	default:
		if base := path.Base(name); base != "Makefile" && base != ".env.example" &&
			name != ".ci/run" {
			return nil, nil
		}
	}
	var texts []text
	for i, line := range strings.Split(string(src), "\n") {
		texts = append(texts, text{line: i + 1, s: line})
	}
	return texts, nil
}

var (
	directive     = regexp.MustCompile(`^//(go:|nolint|line |[a-z]+:[a-z])`)
	exampleOutput = regexp.MustCompile(`^// (Unordered o|O)utput:`)

	preformat = regexp.MustCompile(`^//(\t|  )`)
)

// goTexts returns the comments and the strings of a Go file.
func goTexts(name string, src []byte) ([]text, error) {
	var (
		texts []text
		errs  scanner.ErrorList
		s     scanner.Scanner
	)
	fset := token.NewFileSet()
	file := fset.AddFile(name, -1, len(src))
	s.Init(file, src, errs.Add, scanner.ScanComments)
	output := 0 // last line of the output of an example
	for last := 0; ; {
		pos, tok, lit := s.Scan()
		line := file.Line(pos)
		switch {
		case tok == token.EOF:
			return texts, errs.Err()
		case tok == token.STRING:
			for i, l := range strings.Split(lit, "\n") {
				texts = append(texts, text{line: line + i, s: l})
			}
		case tok != token.COMMENT || directive.MatchString(lit):
		case exampleOutput.MatchString(lit), output > 0 && output == line-1:
			output = line // expected output is not prose and cannot be wrapped
		default:
			start := file.Offset(file.LineStart(line))
			texts = append(texts,
				commentTexts(lit, line, string(src[start:file.Offset(pos)]), last != line)...)
		}
		if tok != token.SEMICOLON {
			last = line
		}
	}
}

// commentTexts returns the lines of a comment. before is the text before it on its line;
// alone reports whether before is only white space.
func commentTexts(lit string, line int, before string, alone bool) []text {
	var texts []text
	for i, l := range strings.Split(lit, "\n") {
		t := text{line: line + i, s: code.ReplaceAllString(l, ""), prose: true}
		wrappable := strings.Contains(strings.TrimSpace(strings.TrimPrefix(l, "//")), " ")
		if alone && wrappable && !preformat.MatchString(l) {
			t.width = width(before + l)
		}
		texts = append(texts, t)
	}
	return texts
}

func width(s string) int {
	n := 0
	for _, r := range s {
		if r == '\t' {
			n += 3
		}
		n++
	}
	return n
}

var (
	code   = regexp.MustCompile("`[^`]*`")
	target = regexp.MustCompile(`\]\([^)]*\)|https?://\S+`)
)

// markdownTexts returns the lines of a page outside of code.
func markdownTexts(src string) []text {
	var texts []text
	fence := ""
	for i, line := range strings.Split(src, "\n") {
		trimmed := strings.TrimSpace(line)
		if marks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`~"))]; len(marks) >= 3 {
			switch {
			case fence == "":
				fence = marks
			case strings.HasPrefix(marks, fence) && trimmed == marks:
				fence = ""
			}
			continue
		}
		if fence != "" || strings.HasPrefix(line, "keywords:") || strings.HasPrefix(line, "    ") {
			continue
		}
		s := target.ReplaceAllString(code.ReplaceAllString(line, ""), "]")
		texts = append(texts, text{line: i + 1, s: s, prose: true})
	}
	return texts
}
