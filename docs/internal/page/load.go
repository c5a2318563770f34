package page

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/docs/internal/markup"
)

// firstSector precedes the other sectors, which are sorted by name.
const firstSector = "guide"

// Load reads the documentation. It returns all problems that prevent loading at once.
// Other problems are found by package check.
func Load(fsys fs.FS) (*Library, error) {
	l := &loader{
		fsys: fsys, library: &Library{files: map[string]*Page{}},
		first: map[string]*Page{}, translated: map[string]bool{},
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("docs: read the content: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			l.sector(entry.Name())
		}
	}
	if len(l.library.sectors) == 0 && len(l.problems) == 0 {
		l.fail(errors.New("no sector found: add a directory with pages"))
		for _, f := range l.library.faults { // possible causes
			l.fail(fmt.Errorf("%q: %s", f.File, f.Text))
		}
	}
	if err := errors.Join(l.problems...); err != nil {
		return nil, fmt.Errorf("docs: read the content: %w", err)
	}
	l.finish()
	return l.library, nil
}

type loader struct {
	fsys     fs.FS
	library  *Library
	problems []error

	first      map[string]*Page // by address
	translated map[string]bool  // translated files, without .md
}

func (l *loader) fail(err error) { l.problems = append(l.problems, err) }

// sector reads a top-level directory.
func (l *loader) sector(name string) {
	o, err := readOrder(l.fsys, name)
	if err != nil {
		l.fail(err)
		return
	}
	s := &Sector{
		Name: name, Title: cmp.Or(o.Title, name), Description: o.Description,
		DescriptionZh: o.DescriptionZh,
	}
	s.TitleZh = cmp.Or(o.TitleZh, s.Title)
	root := l.directory(s, name, o)
	s.Tree = root.Children
	if root.Page != nil {
		s.Tree = append([]*Node{{
			Title: root.Page.Title, TitleZh: titleZh(root.Page),
			Page: root.Page,
		}}, s.Tree...)
	}
	if len(s.Pages) > 0 {
		l.library.sectors = append(l.library.sectors, s)
	}
}

// directory reads the pages of a directory in order: the index, the listed pages, and the
// others by name.
func (l *loader) directory(s *Sector, dir string, o order) *Node {
	node := &Node{Title: cmp.Or(o.Title, path.Base(dir))}
	node.TitleZh = cmp.Or(o.TitleZh, node.Title)
	rest := l.names(dir)
	if rest["index"] {
		node.Page = l.page(s, path.Join(dir, "index"), true)
		delete(rest, "index")
	}
	groups := o.Groups
	if len(groups) == 0 {
		groups = []group{{Pages: o.Pages}}
	}
	for _, g := range groups {
		children := l.listed(s, dir, g.Pages, rest)
		if g.Title == "" {
			node.Children = append(node.Children, children...)
			continue
		}
		node.Children = append(node.Children,
			&Node{Title: g.Title, TitleZh: cmp.Or(g.TitleZh, g.Title), Children: children})
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		if child := l.child(s, dir, name, false); child != nil {
			node.Children = append(node.Children, child)
		}
	}
	return node
}

// listed reads the pages that an order lists, and removes them from rest.
func (l *loader) listed(s *Sector, dir string, names []string, rest map[string]bool) []*Node {
	var nodes []*Node
	for _, name := range names {
		if !rest[name] {
			text := fmt.Sprintf("it lists %q, which does not exist or is listed twice", name)
			l.library.faults = append(l.library.faults, Fault{path.Join(dir, orderFile), text})
			continue
		}
		delete(rest, name)
		if child := l.child(s, dir, name, true); child != nil {
			nodes = append(nodes, child)
		}
	}
	return nodes
}

// child reads a page or, if the name has a trailing slash, a directory. It returns nil if
// there is no page.
func (l *loader) child(s *Sector, dir, name string, listed bool) *Node {
	sub, isDirectory := strings.CutSuffix(name, "/")
	if !isDirectory {
		p := l.page(s, path.Join(dir, name), listed)
		if p == nil {
			return nil
		}
		return &Node{Title: p.Title, TitleZh: titleZh(p), Page: p}
	}
	dir = path.Join(dir, sub)
	o, err := readOrder(l.fsys, dir)
	if err != nil {
		l.fail(err)
		return nil
	}
	node := l.directory(s, dir, o)
	node.Dir = strings.TrimPrefix(dir, s.Name)
	if node.Page == nil && len(node.Children) == 0 {
		return nil // no pages
	}
	return node
}

// names returns the pages and subdirectories of a directory; the latter have a trailing
// slash. A translation counts as a page only if its page is missing; others are added to
// l.translated.
func (l *loader) names(dir string) map[string]bool {
	names := map[string]bool{}
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		l.fail(err)
		return names
	}
	for _, e := range entries {
		name, isPage := strings.CutSuffix(e.Name(), ".md")
		switch {
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			names[e.Name()+"/"] = true
		case isPage && e.Type().IsRegular():
			names[name] = true
		}
	}
	// a.zh is removed before a.zh.zh, which is then not a translation
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if base, ok := strings.CutSuffix(name, chineseSuffix); ok && names[base] {
			l.translated[path.Join(dir, base)] = true
			delete(names, name)
		}
	}
	return names
}

// chineseSuffix is the suffix of Chinese pages, before .md.
const chineseSuffix = ".zh"

// page reads a page and its translation and returns the page.
func (l *loader) page(s *Sector, name string, listed bool) *Page {
	p := l.read(s, name, listed)
	if p == nil || p.Language == Chinese {
		return p
	}
	if !l.translated[name] {
		return p
	}
	if twin := l.read(s, name+chineseSuffix, listed); twin != nil {
		p.Twin, twin.Twin = twin, p
	}
	return p
}

// read reads a file.
func (l *loader) read(s *Sector, name string, listed bool) *Page {
	file := name + ".md"
	if why := invalidName(file); why != "" {
		l.library.faults = append(l.library.faults,
			Fault{file, "the page is skipped; rename it: " + why})
		return nil
	}
	data, err := fs.ReadFile(l.fsys, file)
	if err != nil {
		l.fail(err)
		return nil
	}
	front, body, err := split(data)
	if err != nil {
		l.fail(fmt.Errorf("%s: %w", file, err))
		return nil
	}
	p := &Page{
		Sector: s, File: file, Language: English, Title: front.Title,
		Description: front.Description, Keywords: front.Keywords,
		Body: string(body), fsys: l.fsys, Listed: listed,
		Path:   clean(strings.TrimPrefix(name, s.Name)),
		offset: bytes.Count(data, []byte("\n")) - bytes.Count(body, []byte("\n")),
	}
	if strings.HasSuffix(name, chineseSuffix) {
		p.Language = Chinese
	}
	if other := l.first[p.URL()]; other != nil {
		text := "the page is skipped: " + other.File + " has the same address " + p.URL()
		l.library.faults = append(l.library.faults, Fault{file, text})
		return nil
	}
	l.first[p.URL()] = p
	s.Pages = append(s.Pages, p)
	l.library.files[file] = p
	return p
}

// titleZh returns the title for the Chinese tree.
func titleZh(p *Page) string {
	if p.Twin != nil {
		return p.Twin.Title
	}
	return p.Title
}

// finish sorts the sectors and links adjacent pages.
func (l *loader) finish() {
	slices.SortStableFunc(l.library.sectors, func(a, b *Sector) int {
		if (a.Name == firstSector) != (b.Name == firstSector) {
			return map[bool]int{true: -1, false: 1}[a.Name == firstSector]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	for _, s := range l.library.sectors {
		last := map[string]*Page{}
		for _, p := range s.Pages {
			if before := last[p.Language]; before != nil {
				p.Prev, before.Next = before, p
			}
			last[p.Language] = p
			s.setImport(p)
		}
		l.library.pages = append(l.library.pages, s.Pages...)
	}
	l.parse()
}

// parse parses the pages in parallel, because parsing dominates the loading time.
func (l *loader) parse() {
	var workers sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1); int(i) <= len(l.library.pages); i = next.Add(1) {
				p := l.library.pages[i-1]
				p.Sections = markup.Sections([]byte(p.Body))
				p.Body = resolve(l.library, p)
			}
		})
	}
	workers.Wait()
}
