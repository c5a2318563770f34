package email

import (
	"errors"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Length limits of an address, in bytes (RFC 5321, section 4.5.3.1).
const (
	maxAddress   = 254
	maxLocalPart = 64
	maxName      = 255
)

// Address returns `name <address>` in the format of Message, with special characters in
// the name escaped.
func Address(name, address string) string {
	return (&mail.Address{Name: name, Address: address}).String()
}

// parseAddress parses a single address with its name. It accepts RFC 5322 syntax except
// for groups, quoted local parts and address literals, which are mainly used for
// forgeries. The error does not contain the text.
func parseAddress(text string) (*mail.Address, error) {
	if strings.ContainsFunc(text, unprintable) || !utf8.ValidString(text) {
		return nil, errors.New("has invalid characters")
	}
	a, err := mail.ParseAddress(text)
	if err != nil {
		// the text of the parser quotes the address
		return nil, errors.New("is not a single address")
	}
	if strings.HasSuffix(strings.TrimSpace(text), ";") {
		return nil, errors.New("is a group of addresses")
	}
	if err := checkName(a.Name); err != nil {
		return nil, err
	}
	a.Name = collapseSpaces(a.Name)
	return a, checkSpec(a.Address)
}

// checkSpec validates local@domain.
func checkSpec(spec string) error {
	at := strings.LastIndexByte(spec, '@')
	local, domain := spec[:at], spec[at+1:]
	switch {
	case len(spec) > maxAddress, len(local) > maxLocalPart:
		return errors.New("is too long")
	case strings.ContainsFunc(local, func(r rune) bool { return !inAtom(r) && r != '.' }),
		local == "", local[0] == '.', local[len(local)-1] == '.', strings.Contains(local, ".."):
		return errors.New("has an invalid local part")
	case !isDomain(domain):
		return errors.New("has an invalid domain")
	}
	return nil
}

// inAtom reports whether a dot-atom may contain r (RFC 5322, section 3.2.3, and RFC
// 6532). Outside of ASCII it accepts letters, marks and numbers only.
func inAtom(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// isDomain reports whether s is a domain name of labels with letters, marks, numbers and
// hyphens.
func isDomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && (!inAtom(r) || r < utf8.RuneSelf && !alphanumeric(r))
		}) {
			return false
		}
	}
	return true
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// checkName validates the display name of an address.
func checkName(name string) error {
	switch {
	case strings.ContainsFunc(name, unprintable), !utf8.ValidString(name):
		return errors.New("has a name with invalid characters")
	case len(name) > maxName:
		return errors.New("has a long name")
	}
	return nil
}

// unprintable reports whether r could forge lines or mislead readers: controls, line and
// paragraph separators, and characters that change the text direction.
func unprintable(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	default:
		return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
	}
}

// isASCII reports whether s can be sent without SMTPUTF8.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
