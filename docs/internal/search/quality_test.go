package search_test

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
)

const depth = 10

// sets are the files of queries with their minimal gain, slightly below the current
// value. The minimal number of queries prevents a test that passes because queries are
// missing.
var sets = []struct {
	file         string
	leastGain    float64
	leastQueries int
}{
	{"queries.txt", 0.835, 60},
	{"heldout.txt", 0.78, 40},
}

// A judged is a query with grades for pages and sections.
type judged struct {
	text   string
	grades map[string]float64
}

func TestIndex_Search_Quality(t *testing.T) {
	library := content(t)
	index := search.New(library)
	for _, set := range sets {
		t.Run(set.file, func(t *testing.T) {
			queries := judgements(t, library, set.file)
			if len(queries) < set.leastQueries {
				t.Fatalf("%d queries, want at least %d", len(queries), set.leastQueries)
			}
			if mean := meanGain(t, index, queries); mean < set.leastGain {
				t.Errorf("mean nDCG@%d is %.3f, want at least %.3f", depth, mean, set.leastGain)
			}
		})
	}
}

// meanGain returns the mean gain and logs the worst queries.
func meanGain(t *testing.T, index *search.Index, queries []judged) float64 {
	t.Helper()
	type scored struct {
		judged
		gain float64
		hits []search.Hit
	}
	var all []scored
	sum := 0.0
	for _, q := range queries {
		result, err := index.Search(search.Query{Text: q.text, Limit: depth})
		if err != nil {
			t.Fatalf("search %q: %v", q.text, err)
		}
		gain := q.gain(result.Hits)
		sum += gain
		all = append(all, scored{q, gain, result.Hits})
	}
	mean := sum / float64(len(all))
	t.Logf("mean nDCG@%d of %d queries: %.3f", depth, len(all), mean)
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.gain, b.gain) })
	for _, s := range all[:5] {
		t.Logf("%.3f %s, found %s", s.gain, s.text, names(s.hits))
	}
	return mean
}

// gain returns the normalized discounted cumulative gain of hits. A page or a graded
// section counts once.
func (q judged) gain(hits []search.Hit) float64 {
	left := map[string]float64{}
	ideal := []float64{}
	for key, grade := range q.grades {
		left[key] = grade
		ideal = append(ideal, grade)
	}
	slices.SortFunc(ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	got := 0.0
	for i, h := range hits {
		key := q.graded(left, h)
		got += discounted(left[key], i)
		delete(left, key)
	}
	best := 0.0
	for i, grade := range ideal[:min(len(ideal), depth)] {
		best += discounted(grade, i)
	}
	return got / best
}

// graded returns the graded section or page of a hit, or "".
func (q judged) graded(left map[string]float64, h search.Hit) string {
	name := name(h.Page)
	if key := name + "#" + h.Anchor; left[key] > 0 {
		return key
	}
	if left[name] > 0 {
		return name
	}
	if h.Page.Language == page.Chinese { // Chinese anchors differ
		for key := range left {
			if strings.HasPrefix(key, name+"#") {
				return key
			}
		}
	}
	return ""
}

func discounted(grade float64, rank int) float64 {
	return (math.Exp2(grade) - 1) / math.Log2(float64(rank)+2)
}

// name returns the name of a page in the files of queries. A translation has the name of
// its page.
func name(p *page.Page) string {
	return p.Sector.Name + strings.TrimSuffix(strings.TrimSuffix(p.Path, ".zh"), "/")
}

func names(hits []search.Hit) string {
	found := make([]string, len(hits))
	for i, h := range hits {
		found[i] = strings.TrimSuffix(strings.TrimPrefix(h.Page.URL()+"#"+h.Anchor, "/docs/"), "#")
	}
	return strings.Join(found, " ")
}

func content(tb testing.TB) *page.Library {
	tb.Helper()
	library, err := page.Load(os.DirFS("../../content"))
	if err != nil {
		tb.Fatal(err)
	}
	return library
}

// judgements parses a file of queries. It fails for unknown pages and sections.
func judgements(tb testing.TB, library *page.Library, file string) []judged {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	var all []judged
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		text, list, ok := strings.Cut(line, "|")
		q := judged{strings.TrimSpace(text), map[string]float64{}}
		for item := range strings.FieldsSeq(list) {
			key, grade, _ := strings.Cut(item, "=")
			n, err := strconv.ParseFloat(grade, 64)
			if err != nil || n < 1 || n > 3 {
				tb.Errorf("%q: grade of %s: got %q, want 1 to 3", q.text, key, grade)
			}
			q.grades[key] = n
			exists(tb, library, q.text, key)
		}
		if !ok || len(q.grades) == 0 {
			tb.Errorf("%q: no page", line)
		}
		all = append(all, q)
	}
	return all
}

func exists(tb testing.TB, library *page.Library, query, key string) {
	tb.Helper()
	file, anchor, hasAnchor := strings.Cut(key, "#")
	sector, path, _ := strings.Cut(file, "/")
	p := library.Find(sector, path)
	if p == nil {
		tb.Errorf("%q: page %s does not exist", query, file)
		return
	}
	if hasAnchor && !p.HasAnchor(anchor) {
		tb.Errorf("%q: %s has no section %s", query, file, anchor)
	}
}
