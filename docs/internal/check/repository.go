package check

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
)

const (
	// module is the path before that of every module here.
	module = "github.com/plinthgo/plinth"
)

// readmes are the pages of the repository's root that are checked too.
var readmes = []string{"README.md", "README.zh.md"}

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
	for _, file := range readmes {
		if err := r.readme(file, code); err != nil {
			return err
		}
	}
	r.packages(code)
	r.imports(code)
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

// readme checks a page of the repository's root: its code blocks, and its links, which are
// relative to the root. A missing page is an error.
func (r *report) readme(file string, code *code) error {
	text, err := fs.ReadFile(r.config.Repository, file)
	if err != nil {
		return err
	}
	r.quotations(file, string(text), func(line int) int { return line }, code)
	for _, link := range markup.Links(text) {
		r.readmeLink(file, link)
	}
	return nil
}

func (r *report) readmeLink(file, link string) {
	name, anchor, _ := strings.Cut(link, "#")
	if strings.Contains(link, "://") || name == "" {
		return
	}
	name = path.Clean(name)
	if _, err := fs.Stat(r.config.Repository, name); err != nil {
		r.add(file, 0, "link %q: there is no such file", link)
		return
	}
	content, isPage := strings.CutPrefix(name, "docs/content/")
	if target := r.config.Library.File(content); isPage && target != nil && anchor != "" &&
		!target.HasAnchor(anchor) {
		r.add(file, 0, "link %q: the page has no such heading", link)
	}
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

// imports checks that the import path of every page is that of a public package.
func (r *report) imports(code *code) {
	for _, p := range r.config.Library.Pages() {
		dir := strings.TrimPrefix(p.Import, module+"/")
		if p.Import != "" && !slices.Contains(code.public, dir) {
			r.add(p.File, 0, "import path %q: there is no such package", p.Import)
		}
	}
}
