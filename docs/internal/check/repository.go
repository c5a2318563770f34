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
	// module is the prefix of all module paths of the repository.
	module = "github.com/plinthgo/plinth"
)

// readmes are the checked pages outside the content.
var readmes = []string{"README.md", "README.zh.md"}

// sourceAddress matches the URL of a file or directory of the repository.
var sourceAddress = regexp.MustCompile(`^https://` + regexp.QuoteMeta(module) +
	`/(?:blob|tree)/main/([^#?]+)`)

// repository runs the checks that need the code.
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
		r.add(p.File, r.line(p, link), "link %q: %s does not exist", link, m[1])
	}
}

// quotations checks that the code blocks of a page occur in the repository.
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

// readme checks a page of the repository's root: its code blocks, and its links, which
// are relative to the root. A missing page is an error.
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
		r.add(file, 0, "link %q: the file does not exist", link)
		return
	}
	content, isPage := strings.CutPrefix(name, "docs/content/")
	if target := r.config.Library.File(content); isPage && target != nil && anchor != "" &&
		!target.HasAnchor(anchor) {
		r.add(file, 0, "link %q: the page does not have the heading", link)
	}
}

// packages checks that a page mentions each public package, as `import/path`.
func (r *report) packages(code *code) {
	var all strings.Builder
	for _, p := range r.config.Library.Pages() {
		all.WriteString(p.Source())
	}
	for _, dir := range code.public {
		if name := path.Join(module, dir); !strings.Contains(all.String(), "`"+name+"`") {
			r.add(relative(""), 0, "%s",
				fmt.Sprintf("no page documents package %s: mention `%s` on its page", dir, name))
		}
	}
}

// imports checks that import paths of pages are public packages.
func (r *report) imports(code *code) {
	for _, p := range r.config.Library.Pages() {
		dir := strings.TrimPrefix(p.Import, module+"/")
		if p.Import != "" && !slices.Contains(code.public, dir) {
			r.add(p.File, 0, "import path %q: the package does not exist", p.Import)
		}
	}
}
