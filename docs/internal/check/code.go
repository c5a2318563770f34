package check

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// omission is a line that stands for code which a quotation leaves out.
const omission = "// ..."

// separator stands between the tokens of a text: no token holds it.
const separator = "\x00"

// quotable are the languages of blocks that have to stand in the repository, with the
// suffix of their files. Protocol buffers have the tokens of Go.
var quotable = map[string]string{"go": ".go", "golang": ".go", "proto": ".proto"}

// code is what the pages may quote.
type code struct {
	files  map[string][]string // by suffix, of each file the tokens
	public []string            // folders of packages that others can import
}

// readCode reads the Go files of a repository.
func readCode(repository fs.FS) (*code, error) {
	c := &code{files: map[string][]string{}}
	err := fs.WalkDir(repository, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." &&
			(strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".proto":
			return nil
		}
		text, err := fs.ReadFile(repository, name)
		if err == nil {
			c.add(name, string(text))
		}
		return err
	})
	return c, err
}

// add takes in a file.
func (c *code) add(name, text string) {
	list := tokens(text)
	suffix, dir := path.Ext(name), path.Dir(name)
	c.files[suffix] = append(c.files[suffix], list)
	if suffix == ".go" && isPublic(dir) && !strings.HasSuffix(name, "_test.go") &&
		!slices.Contains(c.public, dir) && clause(list) != "main" {
		c.public = append(c.public, dir)
	}
}

// isPublic tells whether others can import what lies in a folder. Examples and tools are
// programs.
func isPublic(dir string) bool {
	parts := strings.Split(dir, "/")
	return parts[0] != "examples" && parts[0] != "tools" && !slices.Contains(parts, "internal") &&
		!slices.Contains(parts, "testdata") && dir != "."
}

// clause is the name in the package clause of a file's tokens.
func clause(text string) string {
	list := strings.Split(text, separator)
	if i := slices.Index(list, "package"); i >= 0 && i+1 < len(list) {
		return list[i+1]
	}
	return ""
}

// tokens are those of a piece of Go, without comments and without the semicolons that
// line ends stand for.
func tokens(text string) string {
	var b strings.Builder
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	b.WriteString(separator)
	for {
		_, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return b.String()
		case kind == token.SEMICOLON && literal == "\n":
		case kind.IsLiteral() || kind.IsKeyword() || kind == token.ILLEGAL:
			b.WriteString(literal + separator)
		default:
			b.WriteString(kind.String() + separator)
		}
	}
}

// quotes returns why a block is no quotation, or nothing.
func (c *code) quotes(language, block string) string {
	var parts []string
	var part strings.Builder
	for line := range strings.Lines(block) {
		if strings.TrimSpace(line) == omission {
			parts = append(parts, tokens(part.String()))
			part.Reset()
			continue
		}
		part.WriteString(line)
	}
	parts = slices.DeleteFunc(append(parts, tokens(part.String())),
		func(s string) bool { return s == separator })
	if len(parts) == 0 {
		return "the block holds no code"
	}
	for _, file := range c.files[quotable[language]] {
		if holds(file, parts) {
			return ""
		}
	}
	return "this code stands in no " + quotable[language] +
		" file of the repository: quote what compiles, as in examples/snippets"
}

// holds tells whether the parts stand in a file in their order.
func holds(file string, parts []string) bool {
	for _, part := range parts {
		i := strings.Index(file, part)
		if i < 0 {
			return false
		}
		file = file[i+len(part)-len(separator):]
	}
	return true
}
