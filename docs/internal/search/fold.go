package search

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold appends a word in the form in which it is compared: small letters without marks and apostrophes.
func (t *tokenizer) fold(dst []byte, word string) []byte {
	begin := len(dst)
	for i := range len(word) {
		b := word[i]
		if b >= utf8.RuneSelf {
			return t.foldUnicode(dst[:begin], word)
		}
		switch {
		case b >= 'A' && b <= 'Z':
			dst = append(dst, b+'a'-'A')
		case b != '\'':
			dst = append(dst, b)
		}
	}
	return withoutPossessive(dst, begin, word)
}

func (t *tokenizer) foldUnicode(dst []byte, word string) []byte {
	begin := len(dst)
	t.other = norm.NFKD.AppendString(t.other[:0], word)
	for rest := t.other; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		if r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	return withoutPossessive(dst, begin, word)
}

// withoutPossessive takes the s of "River's" away again.
func withoutPossessive(dst []byte, begin int, word string) []byte {
	n := len(word)
	ascii := n > 2 && word[n-2:] == "'s"
	if (ascii || n > 4 && word[n-4:] == "’s") && len(dst) > begin+1 {
		return dst[:len(dst)-1]
	}
	return dst
}

// composed appends characters of a script without blanks, narrow and wide forms made one.
func composed(dst []byte, run string) []byte {
	return norm.NFKC.AppendString(dst, run)
}

// singular returns how many bytes of a plural are left in the singular, and whether a y follows them. It does what Harman's
// S-stemmer does: policies, caches, jobs. A word that only looks like a plural is shortened in the index and in the query alike,
// so that it is found all the same. Short words are left alone (TLS, DNS), but for ids.
func singular(term []byte) (length int, y bool) {
	n := len(term)
	if n < 4 || term[n-1] != 's' || bytes.IndexByte([]byte("uis"), term[n-2]) >= 0 || term[n-2] >= utf8.RuneSelf {
		if string(term) == "ids" {
			return n - 1, false
		}
		return n, false
	}
	if stem, ok := bytes.CutSuffix(term, []byte("ies")); ok && len(stem) > 1 && stem[len(stem)-1] != 'e' && stem[len(stem)-1] != 'a' {
		return len(stem), true
	}
	return n - 1, false
}
