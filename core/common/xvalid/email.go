package xvalid

import (
	"strings"

	"github.com/go-playground/validator/v10"
)

// maxEmail is the longest address in octets that fits a path of SMTP with its angle brackets (RFC 5321,
// section 4.5.3.1.3).
const maxEmail = 254

// quickEmail answers the validator's own email rule for the addresses that nearly everyone has, which
// spares them a parser and a regular expression. The rest is asked of the rule itself.
func quickEmail(rule *validator.Validate) validator.Func {
	return func(fl validator.FieldLevel) bool {
		s := fl.Field().String()
		if len(s) > maxEmail || strings.IndexByte(s, '@') < 0 {
			return false
		}
		return isPlainEmail(s) || rule.Var(s, "email") == nil
	}
}

// isPlainEmail accepts words joined by dots, an @, and a domain of at least two labels whose last one
// begins and ends with a letter. Every such text is an address for the rule email; the reverse is not
// true.
func isPlainEmail(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	for word := range strings.SplitSeq(local, ".") {
		if word == "" {
			return false
		}
		for i := range len(word) {
			if c := word[i]; !isWord(c) && c != '-' && c != '+' {
				return false
			}
		}
	}
	dot := strings.LastIndexByte(domain, '.')
	if dot < 0 {
		return false
	}
	for label := range strings.SplitSeq(domain, ".") {
		if !isPlainLabel(label) {
			return false
		}
	}
	top := domain[dot+1:]
	return isLetter(top[0]) && isLetter(top[len(top)-1])
}

func isPlainLabel(s string) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c == '_' || !isWord(c) && c != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
