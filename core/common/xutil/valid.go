package xutil

import (
	"net/mail"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

// Checks checks the format of strings. See Valid.
type Checks struct{}

// Valid returns the Checks group. To validate request fields, use the struct tags of
// package xvalid.
func Valid() Checks { return Checks{} }

// Email reports whether s is an address such as user@example.org, without a display name.
func (Checks) Email(s string) bool {
	if len(s) > 254 { // RFC 5321
		return false
	}
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return false
	}
	domain := s[strings.LastIndexByte(s, '@')+1:]
	return strings.Contains(strings.Trim(domain, "."), ".")
}

// URL reports whether s is an absolute http or https URL with a host.
func (Checks) URL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// UUID reports whether s is a UUID of any version, with dashes.
func (Checks) UUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }
