package xvalid

import (
	"strings"

	"github.com/go-playground/validator/v10"
)

// maxEmail is the maximum length of an address in octets. With angle brackets, it fits an
// SMTP path (RFC 5321, section 4.5.3.1.3).
const maxEmail = 254

// quickEmail returns a fast path for the email rule. It accepts common addresses without
// a parser or a regular expression, and applies the original rule to all others.
func quickEmail(rule *validator.Validate) validator.Func {
	return func(fl validator.FieldLevel) bool {
		s := fl.Field().String()
		if len(s) > maxEmail || strings.IndexByte(s, '@') < 0 {
			return false
		}
		return isPlainEmail(s) || rule.Var(s, "email") == nil
	}
}

// isPlainEmail accepts words joined by dots, an @, and a domain of at least two labels.
// The last label must start and end with a letter. The email rule accepts all such
// addresses, and others.
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

// consistsOf reports whether s is not empty and contains only ASCII letters, ASCII digits
// and characters of others.
func consistsOf(s, others string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
