package xvalid

import (
	"strings"

	"github.com/go-playground/validator/v10"
)

// maxEmail is the longest address in octets that fits a path of SMTP with its angle
// brackets (RFC 5321, section 4.5.3.1.3).
const maxEmail = 254

// quickEmail answers the validator's own email rule for the addresses that nearly
// everyone has, which spares them a parser and a regular expression. The rest is asked of
// the rule itself.
func quickEmail(rule *validator.Validate) validator.Func {
	return func(fl validator.FieldLevel) bool {
		s := fl.Field().String()
		if len(s) > maxEmail || strings.IndexByte(s, '@') < 0 {
			return false
		}
		return isPlainEmail(s) || rule.Var(s, "email") == nil
	}
}

// isPlainEmail accepts words joined by dots, an @, and a domain of at least two labels
// whose last one begins and ends with a letter. Every such text is an address for the
// rule email; the reverse is not true.
func isPlainEmail(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	for word := range strings.SplitSeq(local, ".") {
		if !consistsOf(word, "_-+") {
			return false
		}
	}
	for label := range strings.SplitSeq(domain, ".") {
		if !consistsOf(label, "-") || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	dot := strings.LastIndexByte(domain, '.')
	return dot >= 0 && isLetter(domain[dot+1]) && isLetter(domain[len(domain)-1])
}

// consistsOf reports whether s has letters and digits of ASCII and the characters of
// others only.
func consistsOf(s, others string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
