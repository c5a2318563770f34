package page

import (
	"regexp"
	"strings"
)

// goSector is the sector of the Go reference, which has a page for each package.
const goSector = "base-go"

// importPath matches the import path of a package in a code span.
var importPath = regexp.MustCompile("`(github\\.com/plinthgo/plinth/[a-z0-9/]+)`")

// setImport sets the import path of a page of the Go reference: the first path that the
// page mentions, or else the path of the page that it continues, such as xcache for
// xcache-key.
func (s *Sector) setImport(p *Page) {
	if s.Name != goSector || p.Path == "/" || p.Path == "/."+Chinese {
		return
	}
	path := strings.TrimSuffix(p.Path, "."+Chinese)
	for _, candidate := range []*Page{p, p.Twin, s.page(parent(path))} {
		if candidate == nil {
			continue
		}
		if m := importPath.FindStringSubmatch(candidate.Body); m != nil {
			p.Import = m[1]
			return
		}
	}
}

// parent returns a path without its last hyphenated part.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '-'); i >= 0 {
		return path[:i]
	}
	return path
}

// Text returns the body without the paragraph that only repeats the import path.
func (p *Page) Text() string {
	for _, stop := range []string{".", "。"} {
		if rest, ok := strings.CutPrefix(p.Body, "`"+p.Import+"`"+stop+"\n\n"); ok {
			return rest
		}
	}
	return p.Body
}
