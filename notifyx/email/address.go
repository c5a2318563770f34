package email

import (
	"errors"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lengths of an address, in bytes (RFC 5321, 4.5.3.1).
const (
	maxAddress   = 254
	maxLocalPart = 64
	maxName      = 255
)

// Address returns "name <address>" in the form in which Message takes it, whatever
// characters the name has.
func Address(name, address string) string {
	return (&mail.Address{Name: name, Address: address}).String()
}

// parseAddress returns one address with its name, in the syntax of RFC 5322 without what
// is only good for forging one: groups, quoted local parts and address literals. The
// error does not hold the text.
func parseAddress(text string) (*mail.Address, error) {
	if strings.ContainsFunc(text, unprintable) || !utf8.ValidString(text) {
		return nil, errors.New("has characters that no address has")
	}
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, errors.New("is not one address") // the parser's text quotes it
	}
	if strings.HasSuffix(strings.TrimSpace(text), ";") {
		return nil, errors.New("is a group of addresses")
	}
	if err := checkName(a.Name); err != nil {
		return nil, err
	}
	a.Name = oneSpace(a.Name)
	return a, checkSpec(a.Address)
}

// checkSpec checks local@domain.
func checkSpec(spec string) error {
	at := strings.LastIndexByte(spec, '@')
	local, domain := spec[:at], spec[at+1:]
	switch {
	case len(spec) > maxAddress, len(local) > maxLocalPart:
		return errors.New("is too long")
	case strings.ContainsFunc(local, func(r rune) bool { return !inAtom(r) && r != '.' }),
		local == "", local[0] == '.', local[len(local)-1] == '.', strings.Contains(local, ".."):
		return errors.New("has a local part that needs quotes")
	case !isDomain(domain):
		return errors.New("has no domain name")
	}
	return nil
}

// inAtom reports whether a dot-atom may hold r (RFC 5322, 3.2.3; RFC 6532): beyond ASCII
// letters, marks and numbers only.
func inAtom(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// isDomain reports whether s is a name of labels with letters, marks, numbers and
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

// checkName checks the name beside an address.
func checkName(name string) error {
	switch {
	case strings.ContainsFunc(name, unprintable), !utf8.ValidString(name):
		return errors.New("has a name with characters that no name has")
	case len(name) > maxName:
		return errors.New("has a name that is too long")
	}
	return nil
}

// unprintable reports a character that forges lines or misleads the reader's eye:
// controls, line and paragraph separators, and those that turn the direction of the text
// around.
func unprintable(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	default:
		return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
	}
}

// isASCII reports whether SMTP without SMTPUTF8 can carry s.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
