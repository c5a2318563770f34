// Package check finds problems of the documentation that do not prevent loading: missing
// descriptions, broken links, pages that no order.yaml lists, outdated translations,
// diagrams without pictures, public packages without a page, Go pages without an import
// path, and code that does not exist in the repository.
//
// A block of Go or protocol buffers on a page must occur in a file of the repository,
// which tests compile. Comments and white space may differ. A line "// ..." marks
// omitted code; the parts must occur in the same file in the same order.
package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// A finding is a problem of the documentation.
type finding struct {
	file string // path within the content, or of a README
	line int    // starts at 1; 0 for the whole file
	text string // problem and fix
}

// String formats the finding like a compiler error.
func (f finding) String() string {
	file := f.file
	if quoted := strconv.Quote(file); quoted != `"`+file+`"` {
		file = quoted // control characters must not reach the terminal
	}
	if f.line == 0 {
		return file + ": " + f.text
	}
	return fmt.Sprintf("%s:%d: %s", file, f.line, f.text)
}

// Config configures Run.
type Config struct {
	Library *page.Library
	// Repository is the root of the repository. If it is nil, Run skips the checks of
	// code.
	Repository fs.FS
	// HasDiagram reports whether the pictures of a Mermaid diagram exist.
	HasDiagram func(source string) bool
}

// Run returns all findings as lines, sorted by file and line. It returns an error if the
// repository cannot be read.
func Run(c Config) ([]string, error) {
	r := &report{config: c}
	for _, f := range c.Library.Faults() {
		r.add(f.File, 0, "%s", f.Text)
	}
	for _, s := range c.Library.Sectors() {
		r.sector(s)
	}
	for _, p := range c.Library.Pages() {
		r.page(p)
		r.links(p)
		r.fences(p)
	}
	if c.Repository != nil {
		if err := r.repository(); err != nil {
			return nil, fmt.Errorf("docs: check: %w", err)
		}
	}
	slices.SortStableFunc(r.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	lines := make([]string, len(r.findings))
	for i, f := range r.findings {
		lines[i] = f.String()
	}
	return lines, nil
}

type report struct {
	config   Config
	findings []finding
}

func (r *report) add(file string, line int, format string, args ...any) {
	r.findings = append(r.findings,
		finding{file: file, line: line, text: fmt.Sprintf(format, args...)})
}
