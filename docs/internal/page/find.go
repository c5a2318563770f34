package page

import (
	"cmp"
	"slices"
	"strings"
)

// nearest is the maximum number of suggestions.
const nearest = 3

// Find returns a page of a sector, or nil. The path may start with /docs/<sector> or
// <sector>, and may have leading and trailing slashes, a suffix .md or .mdx, a query and
// an anchor.
func (l *Library) Find(sector, path string) *Page {
	s := l.Sector(sector)
	if s == nil {
		return nil
	}
	path = clean(path)
	if p := s.page(path); p != nil {
		return p
	}
	for _, prefix := range []string{"/docs/" + sector, "/" + sector} {
		if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
			return s.page(cmp.Or(rest, "/"))
		}
	}
	return nil
}

// clean returns a path with a leading and without a trailing slash, and without an
// anchor, a query and a Markdown suffix.
func clean(path string) string {
	if i := strings.IndexAny(path, "#?"); i >= 0 {
		path = path[:i]
	}
	path = strings.Trim(strings.TrimSpace(path), "/")
	path = withoutSuffix(path)
	if path == "index" {
		path = ""
	}
	return "/" + strings.TrimSuffix(path, "/index")
}

// withoutSuffix removes the suffix .md or .mdx.
func withoutSuffix(name string) string {
	if stem, ok := strings.CutSuffix(name, ".mdx"); ok {
		return stem
	}
	return strings.TrimSuffix(name, ".md")
}

func (s *Sector) page(path string) *Page {
	for _, p := range s.Pages {
		if p.Path == path {
			return p
		}
	}
	return nil
}

// NearestSector returns the names of the most similar sectors, best first.
func (l *Library) NearestSector(name string) []string {
	names := make([]string, len(l.sectors))
	for i, s := range l.sectors {
		names[i] = s.Name
	}
	want := strings.ToLower(name)
	return best(names, func(n string) int {
		if slices.Contains(strings.Split(n, "-"), want) { // "java" is base-java
			return 0
		}
		return Distance(want, n)
	})
}

// NearestPage returns the pages with the most similar path or title, best first. Pages of
// other sectors with exactly this name precede the pages of the sector. If the sector is
// unknown or empty, it searches all sectors.
func (l *Library) NearestPage(sector, path string) []*Page {
	want := strings.ToLower(strings.Trim(clean(path), "/"))
	if _, after, ok := strings.Cut(want, "docs/"); ok {
		want = after
	}
	if first, after, ok := strings.Cut(want, "/"); ok && l.Sector(first) != nil {
		want = after
	}
	score := func(p *Page) int { return distance(want, p) }
	s := l.Sector(sector)
	if s == nil {
		return best(l.pages, score)
	}
	var namesakes []*Page
	for _, p := range l.pages {
		if p.Sector != s && p.Path != "/" && strings.EqualFold(p.Path, "/"+want) {
			namesakes = append(namesakes, p)
		}
	}
	found := append(namesakes, best(s.Pages, score)...)
	return found[:min(nearest, len(found))]
}

// distance returns a small number for a probable page.
func distance(want string, p *Page) int {
	path := strings.ToLower(strings.Trim(p.Path, "/"))
	name := path[strings.LastIndexByte(path, '/')+1:]
	d := min(Distance(want, path), Distance(want[strings.LastIndexByte(want, '/')+1:], name),
		Distance(want, strings.ToLower(p.Title)))
	if want != "" && (strings.Contains(path, want) || name != "" && strings.Contains(want, name)) {
		d = min(d, 1)
	}
	return d
}

// best returns the items with the smallest scores, at most nearest. Items with equal
// scores keep their order.
func best[T any](items []T, score func(T) int) []T {
	type scored struct {
		item  T
		score int
	}
	all := make([]scored, len(items))
	for i, item := range items {
		all[i] = scored{item, score(item)}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	found := make([]T, 0, nearest)
	for _, s := range all[:min(nearest, len(all))] {
		found = append(found, s.item)
	}
	return found
}

// maxCompared limits the cost of Distance.
const maxCompared = 100

// Distance returns the optimal string alignment distance: the number of characters to
// insert, delete, replace or swap with the next one.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	x, y = x[:min(len(x), maxCompared)], y[:min(len(y), maxCompared)]
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			change := last[j]
			if x[i] != y[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
