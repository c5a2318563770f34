// Package check finds what is wrong with the documentation, beside what keeps it from
// loading: a missing description, a broken link, a page that no order names, a
// translation that lags behind, a diagram that was not rendered, a public package without
// a page, and a quotation of code that is not in the code.
//
// A block of Go, or of protocol buffers, on a page is a quotation: without comments and
// white space, it stands somewhere in the repository, of which the tests see to it that
// it compiles. A line "// ..." stands for what is left out; the parts come from one file,
// in their order.
package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// A finding is one thing to mend.
type finding struct {
	file string // within the content, or README.md
	line int    // from 1; 0 for the whole file
	text string // what is wrong and what to do
}

// String is the finding as compilers print theirs.
func (f finding) String() string {
	file := f.file
	if quoted := strconv.Quote(file); quoted != `"`+file+`"` {
		file = quoted // whoever prints a control character lets it act on the terminal
	}
	if f.line == 0 {
		return file + ": " + f.text
	}
	return fmt.Sprintf("%s:%d: %s", file, f.line, f.text)
}

// Config says what is checked.
type Config struct {
	Library *page.Library
	// Repository is the working tree with the code; nil leaves out what needs it.
	Repository fs.FS
	// HasDiagram tells whether a diagram was rendered, by its source.
	HasDiagram func(source string) bool
}

// Run returns everything that is wrong, a line each, in the order of files and lines. The
// error is about reading the repository.
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
