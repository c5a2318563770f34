package search_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/search"
)

func TestStem(t *testing.T) {
	for _, test := range []struct {
		name  string
		words string
		want  string
	}{
		{"of a verb", "validate validated validating validation validator valid", "valid"},
		{"with a doubled letter", "stop stopped stopping", "stop"},
		{"with two letters of its own", "call called calling", "call"},
		{"without its e", "write writing", "writ"},
		{"with a y", "retry retried retrying", "retri"},
		{"of an adverb", "graceful gracefully", "graceful"},
		{"of a noun", "connect connection connector", "connect"},
		{"short", "red sing core", "red sing core"},
		{"with digits", "sha256ed v2", "sha256ed v2"},
		{"without English letters", "迁移 über", "迁移 über"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for word := range strings.FieldsSeq(test.words) {
				if s := search.Stem(word); !slices.Contains(got, s) {
					got = append(got, s)
				}
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("stems of %q: got %q, want %q", test.words, got, test.want)
			}
		})
	}
}

func TestIndex_Search_Stems(t *testing.T) {
	files := map[string]string{
		"a/check": "Checks\nValidation of input.\nNothing else.",
		"a/hold":  "Holding\nA lease for one.\nNothing else.",
		"a/pause": "Pausing\nIt is stopped here.\nNothing else.",
		"a/wordy": "Other\nA page.\nIt is exclusive and locked up.",
	}
	ix := search.New(library(t, files))
	for _, test := range []struct {
		name string
		text string
		want string
	}{
		{"another form", "validates", "a/check"},
		{"a form with a doubled letter", "stopping now", "a/pause"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, _, _ := strings.Cut(strings.Join(found(t, ix, test.text), " "),
				" "); got != test.want {
				t.Errorf("%q: got %q, want %q first", test.text, got, test.want)
			}
		})
	}
}

// misspelt creates the misspellings, because a page may contain a fixed one.
func TestIndex_Search_Suggestions_Content(t *testing.T) {
	ix := search.New(content(t))
	for _, words := range [][2]string{
		{"database", "migration"},
		{"snowflake", "number"},
		{"graceful", "handler"},
	} {
		query := misspelt(t, ix, words[0]) + " " + misspelt(t, ix, words[1])
		result := find(t, ix, search.Query{Text: query})
		if want := words[0] + " " + words[1]; len(result.Suggestions) == 0 ||
			!strings.EqualFold(result.Suggestions[0], want) {
			t.Errorf("%q: got %q, want %q first", query, result.Suggestions, want)
		}
	}
}

// misspelt swaps two adjacent letters so that no page contains the result.
func misspelt(t *testing.T, ix *search.Index, word string) string {
	t.Helper()
	for i := len(word) - 2; i > 1; i-- {
		swapped := word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
		if swapped != word && find(t, ix, search.Query{Text: swapped}).Total == 0 {
			return swapped
		}
	}
	t.Fatalf("every misspelling of %q occurs in a page", word)
	return ""
}
