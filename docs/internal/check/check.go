// Package check finds what is wrong with the documentation, beside what keeps it from loading: a missing description, a broken
// link, a page that no order names, a translation that lags behind, a diagram that was not rendered, a public package without
// a page, and a quotation of code that is not in the code.
//
// A block of Go, or of protocol buffers, on a page is a quotation: without comments and white space, it stands somewhere in
// the repository, of which the tests see to it that it compiles. A line "// ..." stands for what is left out; the parts come
// from one file, in their order.
package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// A Finding is one thing to mend.
type Finding struct {
	File string // within the content, or README.md
	Line int    // from 1; 0 for the whole file
	Text string // what is wrong and what to do
}

// String is the finding as compilers print theirs.
func (f Finding) String() string {
	file := f.File
	if quoted := strconv.Quote(file); quoted != `"`+file+`"` {
		file = quoted // whoever prints a control character lets it act on the terminal
	}
	if f.Line == 0 {
		return file + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", file, f.Line, f.Text)
}

// Config says what is checked.
type Config struct {
	Library *page.Library
	// Repository is the working tree with the code; nil leaves out what needs it.
	Repository fs.FS
	// HasDiagram tells whether a diagram was rendered, by its source.
	HasDiagram func(source string) bool
}

// Run returns everything that is wrong, in the order of files and lines. The error is about reading the repository.
func Run(c Config) ([]Finding, error) {
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
	slices.SortStableFunc(r.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return r.findings, nil
}

type report struct {
	config   Config
	findings []Finding
}

func (r *report) add(file string, line int, format string, args ...any) {
	r.findings = append(r.findings, Finding{File: file, Line: line, Text: fmt.Sprintf(format, args...)})
}
