package search_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/search"
)

func TestIndex_Search_Levels(t *testing.T) {
	text := strings.Repeat("red and green: red green. ", 30)
	ix := search.New(library(t, map[string]string{
		"a/text":    "Colors\nA page of red and green.\n" + text,
		"a/heading": "Paint\nPage.\n\n## Red or green\n\nNothing else.",
		"a/joined":  "Green\nPage.\n\n## Red\n\nNothing else.",
		"a/title":   "Of green and red\nPage.\nNothing else.",
		"a/keyword": "Wood\nPage.\nNothing else, but for green.",
	}))
	got := found(t, ix, "red green")
	order := []int{
		slices.Index(got, "a/title"), slices.Index(got, "a/heading#red-or-green"),
		slices.Index(got, "a/joined#red"), slices.Index(got, "a/text"),
		slices.Index(got, "a/keyword"),
	}
	if order[0] != 0 || max(order[1], order[2]) > order[3] || order[3] > order[4] ||
		slices.Contains(order, -1) {
		t.Errorf("got %q, want the title, then headings, then text", got)
	}
}

func TestIndex_Search_Levels_Content(t *testing.T) {
	ix := search.New(content(t))
	for _, test := range plainQueries {
		t.Run(test.query, func(t *testing.T) {
			hasAll := func(text string) bool {
				for word := range strings.FieldsSeq(test.query) {
					if !strings.Contains(" "+strings.ToLower(text)+" ", " "+word+" ") {
						return false
					}
				}
				return true
			}
			levels, ofPage := []int{}, map[string]int{}
			for _, h := range find(t, ix,
				search.Query{Text: test.query, Limit: search.MaxLimit}).Hits {
				if ofPage[name(h.Page)]++; ofPage[name(h.Page)] > 3 {
					break // the rest of the hits of pages with several
				}
				switch {
				case isJava(name(h.Page)) || slices.Contains(h.Page.Keywords, test.query):
				case h.Heading == "" && hasAll(h.Page.Title):
					levels = append(levels, 1)
				case h.Heading != "" && hasAll(h.Heading):
					levels = append(levels, 2)
				case !strings.Contains(strings.ToLower(h.Page.Title+h.Heading), test.query[:3]):
					levels = append(levels, 3)
				}
			}
			if !slices.IsSorted(levels) {
				t.Errorf("got matches of title, heading and text in the order %v", levels)
			}
		})
	}
}

func TestIndex_Search_Java(t *testing.T) {
	ix := search.New(library(t, map[string]string{
		"base-java/filter": "Filter\nPage.\nA filter is a quux.",
		"base-go/order":    "Order\nPage.\nA filter of requests.",
		"guide/requests":   "Requests\nPage.\nA filter in a text. One more line about requests.",
	}))
	for _, test := range []struct {
		name, query, first, last string
	}{
		{"follows the other pages", "filter", "base-go/order", "base-java/filter"},
		{"is first for its own words", "filter quux", "base-java/filter", "guide/requests"},
		{"is first for a query about Java", "java filter", "base-java/filter", "guide/requests"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := pages(find(t, ix, search.Query{Text: test.query}))
			if len(got) != 3 || got[0] != test.first || got[2] != test.last {
				t.Errorf("%q: got %q, want %s first and %s last",
					test.query, got, test.first, test.last)
			}
		})
	}
}
