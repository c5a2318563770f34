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

// CheckURL reports everything that is wrong with the URL of a receiver: for an
// application that is about to store one. It looks up no name. What a name stands for is
// checked at each connection, since it may change.
//
// The error is ErrURL, or ErrBlockedAddress for an address that is written out.
func (c *Client) CheckURL(text string) error {
	_, err := c.parseURL(text)
	return err
}

// parseURL never puts the URL into its error: a path or a query may be the receiver's
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
		return nil, fmt.Errorf("%w: it cannot be read", ErrURL)
	}
	var problems []error
	wrong := func(problem string) {
		problems = append(problems, fmt.Errorf("%w: %s", ErrURL, problem))
	}
	if !c.schemeAllowed(u.Scheme) {
		wrong("the scheme is not " + c.config.schemes())
	}
	if u.User != nil {
		wrong("it has user information")
	}
	if strings.Contains(text, "#") {
		wrong("it has a fragment")
	}
	if !c.portAllowed(u) {
		wrong("the port is not allowed")
	}
	if u.Opaque != "" || u.Hostname() == "" {
		wrong("it has no host")
	} else if err := c.checkHost(u.Hostname()); err != nil {
		problems = append(problems, err)
	}
	return u, errors.Join(problems...)
}

func (c *Client) schemeAllowed(scheme string) bool {
	return scheme == "https" || scheme == "http" && c.config.http
}

// breaksLine reports whether a character has no place in a request line; url.Parse lets
// some pass in a query.
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

// checkHost refuses what resolvers read in different ways: numbers that are no plain IPv4
// address, such as 0x7f.1 and 2130706433, and names that are not ASCII.
func (c *Client) checkHost(host string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return c.guard.check(addr)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case !validName(name):
		return fmt.Errorf("%w: the host is no name in ASCII (write a name of another script in its xn-- form)", ErrURL)
	case isNumber(last):
		return fmt.Errorf("%w: the host is a number", ErrBlockedAddress)
	case last == "localhost" && c.guard.blocks(localhost):
		return fmt.Errorf("%w: localhost", ErrBlockedAddress)
	default:
		return nil
	}
}

// isNumber reports whether a name that ends in this label is an IPv4 address to some
// (WHATWG URL, "ends in a number").
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
