package search

import "strings"

// minStem is how many letters of a word are left at least.
const minStem = 3

// stem returns a word without the ending that a verb, or what is made of it, takes:
// validates, validated and validation have one stem, and so have stop and stopping. It is
// rougher than a dictionary and cuts less than Porter's algorithm, for a word that is
// found by its stem counts for less than the word itself.
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

// uninflected takes the ending of a verb's form away, and one of the letters that it has
// doubled: stopped, stopping, but not calling.
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

// underived takes the ending of a noun or a verb of Latin away: validate, validation,
// connection, connector.
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

// without takes the first of the endings that fits away, if so many letters are left.
func without(term string, least int, endings ...string) string {
	for _, ending := range endings {
		if cut, ok := strings.CutSuffix(term, ending); ok && len(cut) >= least {
			return cut
		}
	}
	return term
}
