package check

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
)

const (
	// module is the path before that of every module here.
	module = "github.com/plinthgo/plinth"
	// front is the page outside the content that is checked too.
	front = "README.md"
)

// sourceAddress is a whole address of a file or folder of the repository.
var sourceAddress = regexp.MustCompile(`^https://` + regexp.QuoteMeta(module) +
	`/(?:blob|tree)/main/([^#?]+)`)

// repository checks what needs the code.
func (r *report) repository() error {
	code, err := readCode(r.config.Repository)
	if err != nil {
		return err
	}
	for _, p := range r.config.Library.Pages() {
		r.quotations(p.File, p.Source(), p.Line, code)
	}
	if err := r.front(code); err != nil {
		return err
	}
	r.packages(code)
	return nil
}

// sourceLink checks a link to a file of the repository.
func (r *report) sourceLink(p *page.Page, link string) {
	m := sourceAddress.FindStringSubmatch(link)
	if m == nil || r.config.Repository == nil {
		return
	}
	if _, err := fs.Stat(r.config.Repository, path.Clean(m[1])); err != nil {
		r.add(p.File, r.line(p, link), "link %q: there is no %s", link, m[1])
	}
}

// quotations checks that every block of code that can be quoted stands in the repository.
func (r *report) quotations(file, source string, line func(int) int, code *code) {
	for _, f := range markup.Fences([]byte(source)) {
		language := strings.ToLower(f.Language)
		if quotable[language] == "" {
			continue
		}
		if why := code.quotes(language, f.Code); why != "" {
			r.add(file, line(f.Line), "%s", why)
		}
	}
}

// front checks the repository's README: its quotations, and its links, which are relative
// to the repository's root.
func (r *report) front(code *code) error {
	text, err := fs.ReadFile(r.config.Repository, front)
	if err != nil {
		return err
	}
	r.quotations(front, string(text), func(line int) int { return line }, code)
	for _, link := range markup.Links(text) {
		file, anchor, _ := strings.Cut(link, "#")
		if strings.Contains(link, "://") || file == "" {
			continue
		}
		if _, err := fs.Stat(r.config.Repository, path.Clean(file)); err != nil {
			r.add(front, 0, "link %q: there is no such file", link)
			continue
		}
		content, isPage := strings.CutPrefix(path.Clean(file), "docs/content/")
		if target := r.config.Library.File(content); isPage && target != nil && anchor != "" &&
			!target.HasAnchor(anchor) {
			r.add(front, 0, "link %q: the page has no such heading", link)
		}
	}
	return nil
}

// packages checks that every public package is named, as `path/of/it`, by a page.
func (r *report) packages(code *code) {
	var all strings.Builder
	for _, p := range r.config.Library.Pages() {
		all.WriteString(p.Source())
	}
	for _, dir := range code.public {
		if name := path.Join(module, dir); !strings.Contains(all.String(), "`"+name+"`") {
			r.add(relative(""), 0, "%s",
				fmt.Sprintf("no page is about package %s: one has to hold `%s`", dir, name))
		}
	}
}
