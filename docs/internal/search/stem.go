package search

import "strings"

// minStem is the minimal length of a stem.
const minStem = 3

// stem returns a word without the usual endings of verbs and of nouns derived from them:
// validates, validated and validation have the same stem. It removes less than Porter's
// algorithm, which suffices because stems have a lower weight than words.
func stem(term string) string {
	if len(term) <= minStem || strings.Trim(term, "abcdefghijklmnopqrstuvwxyz") != "" {
		return term
	}
	term = uninflected(without(term, minStem+1, "ly"))
	if cut := underived(term); cut != term {
		return cut
	}
	term = without(term, minStem+1, "e")
	if base, ok := strings.CutSuffix(term, "y"); ok { // retry and retried
		return base + "i"
	}
	return term
}

// uninflected removes -ing and -ed, and one of two equal letters before them (stopped,
// but not called).
func uninflected(term string) string {
	cut := without(term, minStem, "ing", "ed")
	if cut == term || !strings.ContainsAny(cut, "aeiouy") {
		return term
	}
	n := len(cut)
	if n > minStem && cut[n-1] == cut[n-2] && strings.IndexByte("aeiouls", cut[n-1]) < 0 {
		return cut[:n-1]
	}
	return cut
}

// underived removes Latin endings: validate, validation, connection, connector.
func underived(term string) string {
	if cut := without(term, minStem+1, "ation", "ator", "ate", "at"); cut != term {
		return cut
	}
	if cut := without(term, minStem+1, "ion", "or"); strings.HasSuffix(cut, "t") ||
		strings.HasSuffix(cut, "s") {
		return cut
	}
	return term
}

// without removes the first matching ending if at least the given number of letters
// remain.
func without(term string, least int, endings ...string) string {
	for _, ending := range endings {
		if cut, ok := strings.CutSuffix(term, ending); ok && len(cut) >= least {
			return cut
		}
	}
	return term
}
