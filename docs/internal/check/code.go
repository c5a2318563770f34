package check

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// omission is a line that marks omitted code.
const omission = "// ..."

// separator separates the tokens of a text. It occurs in no token.
const separator = "\x00"

// quotable maps the languages of checked code blocks to file extensions. The Go scanner
// also splits protocol buffers.
var quotable = map[string]string{"go": ".go", "golang": ".go", "proto": ".proto"}

// code is the code of the repository.
type code struct {
	files  map[string][]string // tokens of the files, by extension
	public []string            // directories of public packages
}

// readCode reads the Go and protocol buffer files of a repository.
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

// add adds a file.
func (c *code) add(name, text string) {
	list := tokens(text)
	suffix, dir := path.Ext(name), path.Dir(name)
	c.files[suffix] = append(c.files[suffix], list)
	if suffix == ".go" && isPublic(dir) && !strings.HasSuffix(name, "_test.go") &&
		!slices.Contains(c.public, dir) && clause(list) != "main" {
		c.public = append(c.public, dir)
	}
}

// isPublic reports whether other modules can import the package of a directory. Examples
// and tools are programs.
func isPublic(dir string) bool {
	parts := strings.Split(dir, "/")
	return parts[0] != "examples" && parts[0] != "tools" && !slices.Contains(parts, "internal") &&
		!slices.Contains(parts, "testdata") && dir != "."
}

// clause returns the package name of a file's tokens.
func clause(text string) string {
	list := strings.Split(text, separator)
	if i := slices.Index(list, "package"); i >= 0 && i+1 < len(list) {
		return list[i+1]
	}
	return ""
}

// tokens returns the tokens of Go code, without comments and without the semicolons of
// line breaks.
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

// quotes returns the reason why a block does not occur in the code, or "".
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
		return "the block contains no code"
	}
	for _, file := range c.files[quotable[language]] {
		if contains(file, parts) {
			return ""
		}
	}
	return "this code does not occur in any " + quotable[language] +
		" file of the repository: copy compiled code, for example from examples/snippets"
}

// contains reports whether a file contains the parts in their order.
func contains(file string, parts []string) bool {
	for _, part := range parts {
		i := strings.Index(file, part)
		if i < 0 {
			return false
		}
		file = file[i+len(part)-len(separator):]
	}
	return true
}
