package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const maxURL = 2048 // bytes

// CheckURL returns all problems of a receiver URL, so that an application can validate a
// URL before it stores it. It does not resolve host names, because addresses may change;
// Send checks them at each connection.
//
// The error is ErrURL, or ErrBlockedAddress for an IP address that is not allowed.
func (c *Client) CheckURL(text string) error {
	_, err := c.parseURL(text)
	return err
}

// parseURL returns errors without the URL, because its path or query may contain a
// secret.
func (c *Client) parseURL(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrURL, maxURL)
	}
	if strings.ContainsFunc(text, breaksLine) {
		return nil, fmt.Errorf("%w: it has a space or a control character", ErrURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be parsed", ErrURL)
	}
	var problems []error
	reject := func(problem string) {
		problems = append(problems, fmt.Errorf("%w: %s", ErrURL, problem))
	}
	if !c.schemeAllowed(u.Scheme) {
		reject("the scheme is not " + c.config.schemes())
	}
	if u.User != nil {
		reject("it has user information")
	}
	if strings.Contains(text, "#") {
		reject("it has a fragment")
	}
	if !c.portAllowed(u) {
		reject("the port is not allowed")
	}
	if u.Opaque != "" || u.Hostname() == "" {
		reject("it has no host")
	} else if err := c.checkHost(u.Hostname()); err != nil {
		problems = append(problems, err)
	}
	return u, errors.Join(problems...)
}

func (c *Client) schemeAllowed(scheme string) bool {
	return scheme == "https" || scheme == "http" && c.config.http
}

// breaksLine reports whether a character is invalid in a request line. url.Parse accepts
// some of these in a query.
func breaksLine(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

func (c *Client) portAllowed(u *url.URL) bool {
	port := uint64(443)
	if u.Scheme == "http" {
		port = 80
	}
	if text := u.Port(); text != "" {
		var err error
		if port, err = strconv.ParseUint(text, 10, 16); err != nil || port == 0 {
			return false
		}
	} else if strings.HasSuffix(u.Host, ":") {
		return false
	}
	return len(c.config.ports) == 0 || slices.Contains(c.config.ports, uint16(port))
}

// checkHost rejects blocked addresses and hosts that resolvers interpret differently:
// non-standard IPv4 notations, such as 0x7f.1 and 2130706433, and names that are not
// ASCII.
func (c *Client) checkHost(host string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return c.guard.check(addr)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case !validName(name):
		return fmt.Errorf("%w: the host is not an ASCII name (write other scripts in xn-- form)",
			ErrURL)
	case isNumber(last):
		return fmt.Errorf("%w: the host is a number", ErrBlockedAddress)
	case last == "localhost" && c.guard.blocks(localhost):
		return fmt.Errorf("%w: localhost", ErrBlockedAddress)
	default:
		return nil
	}
}

// isNumber reports whether some parsers read a host with this last label as an IPv4
// address ("ends in a number" in the WHATWG URL standard).
func isNumber(label string) bool {
	if digits, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

func validName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}
