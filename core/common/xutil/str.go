package xutil

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Strings works on texts; get it with Str.
type Strings struct{}

// Str returns the group that works on texts. It counts in characters (runes) and cuts none in half.
func Str() Strings { return Strings{} }

// IsBlank reports whether a text is empty or all white space.
func (Strings) IsBlank(s string) bool { return strings.TrimSpace(s) == "" }

// Truncate returns the first n characters.
func (Strings) Truncate(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// TruncateBytes returns as many whole characters as fit n bytes.
func (Strings) TruncateBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Mask replaces every character but the first start and the last end with an asterisk. A text with no
// more than start+end characters is masked whole.
func (Strings) Mask(s string, start, end int) string {
	chars := []rune(s)
	start, end = max(start, 0), max(end, 0)
	if start > len(chars) || end >= len(chars)-start {
		return strings.Repeat("*", len(chars))
	}
	tail := len(chars) - end
	return string(chars[:start]) + strings.Repeat("*", tail-start) + string(chars[tail:])
}

// Snake converts userID, UserID, user-id and "user id" to user_id.
func (Strings) Snake(s string) string { return strings.Join(words(s), "_") }

// Kebab converts userID, UserID, user_id and "user id" to user-id.
func (Strings) Kebab(s string) string { return strings.Join(words(s), "-") }

// Pascal converts user_id, user-id and "user id" to UserId.
func (Strings) Pascal(s string) string {
	var b strings.Builder
	for _, w := range words(s) {
		r, size := utf8.DecodeRuneInString(w)
		b.WriteRune(unicode.ToUpper(r))
		b.WriteString(w[size:])
	}
	return b.String()
}

// Camel converts user_id, user-id and "user id" to userId.
func (s Strings) Camel(text string) string {
	list := words(text)
	if len(list) == 0 {
		return ""
	}
	return list[0] + s.Pascal(strings.Join(list[1:], "_"))
}

// words splits a name at everything that is neither letter nor digit, before a capital that follows a
// small letter or digit, and before the last of several capitals (HTTPServer is http, server).
func words(s string) []string {
	var list []string
	chars := []rune(s)
	begin := 0
	cut := func(i int) {
		if i > begin {
			list = append(list, strings.ToLower(string(chars[begin:i])))
		}
		begin = i
	}
	for i, r := range chars {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			cut(i)
			begin = i + 1
		case i > begin && unicode.IsUpper(r) && (!unicode.IsUpper(chars[i-1]) || i+1 < len(chars) && unicode.IsLower(chars[i+1])):
			cut(i)
		}
	}
	cut(len(chars))
	return list
}
