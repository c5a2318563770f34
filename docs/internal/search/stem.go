package search

import "bytes"

// minStem is how many letters of a word are left at least.
const minStem = 3

// stem returns a word without the ending that a verb, or what is made of it, takes: validates, validated and validation have one
// stem, and so have stop and stopping. It is rougher than a dictionary and cuts less than Porter's algorithm, for a word that is
// found by its stem counts for less than the word itself. It may change what it is given.
func stem(term []byte) []byte {
	if len(term) <= minStem || !isSmall(term) {
		return term
	}
	term, _ = without(term, "ly", minStem+1)
	term = uninflected(term)
	if cut, ok := underived(term); ok {
		return cut
	}
	term, _ = without(term, "e", minStem+1)
	if last := len(term) - 1; term[last] == 'y' { // retry and retried
		term[last] = 'i'
	}
	return term
}

// uninflected takes the ending of a verb's form away: stopped, stopping.
func uninflected(term []byte) []byte {
	for _, ending := range [...]string{"ing", "ed"} {
		if cut, ok := without(term, ending, minStem); ok && bytes.ContainsAny(cut, "aeiouy") {
			return single(cut)
		}
	}
	return term
}

// underived takes the ending of a noun or a verb of Latin away: validate, validation, connection, connector.
func underived(term []byte) ([]byte, bool) {
	for _, ending := range [...]string{"ation", "ator", "ate", "at"} {
		if cut, ok := without(term, ending, minStem+1); ok {
			return cut, true
		}
	}
	for _, ending := range [...]string{"ion", "or"} {
		if cut, ok := without(term, ending, minStem+1); ok && (cut[len(cut)-1] == 't' || cut[len(cut)-1] == 's') {
			return cut, true
		}
	}
	return term, false
}

// without takes an ending away, if so many letters are left.
func without(term []byte, ending string, least int) ([]byte, bool) {
	if cut, ok := bytes.CutSuffix(term, []byte(ending)); ok && len(cut) >= least {
		return cut, true
	}
	return term, false
}

// single makes the last two letters one where they are the same, as in stopping, but not in calling.
func single(term []byte) []byte {
	n := len(term)
	if n > minStem && term[n-1] == term[n-2] && bytes.IndexByte([]byte("aeiouls"), term[n-1]) < 0 {
		return term[:n-1]
	}
	return term
}

// isSmall tells whether a word has small letters of English only.
func isSmall(term []byte) bool {
	for _, b := range term {
		if asciiClass(b) != lower {
			return false
		}
	}
	return true
}
