package dbconn

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Secrets are the secrets of one connection. They are removed from errors, because
// libraries quote the DSN or the part that they could not parse.
type Secrets []string // longest first

// NewSecrets returns a password and its encoded forms in a DSN.
func NewSecrets(pass string) Secrets { return Secrets{}.with(pass) }

// with adds a secret, unless it is empty.
func (s Secrets) with(secret string) Secrets {
	if secret == "" {
		return s
	}
	_, userinfo, _ := strings.Cut(url.UserPassword("", secret).String(), ":")
	quoted := strconv.Quote(secret)
	all := slices.Concat(s, Secrets{
		secret, url.QueryEscape(secret), url.PathEscape(secret), userinfo,
		quoted[1 : len(quoted)-1],
		strings.ReplaceAll(secret, "'", "''"),
		strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(secret),
	})
	if plain, err := url.PathUnescape(secret); err == nil {
		all = append(all, plain)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return slices.Compact(all)
}

// dsnPasswords match the passwords in the usual forms of a DSN. They may match more than
// a password, because a match is only masked.
var dsnPasswords = sync.OnceValue(func() []*regexp.Regexp {
	const param = `(?i)(?:password|passwd|passphrase|pwd|pass|secret|token)\s*=\s*`
	return []*regexp.Regexp{
		// scheme://user:password@host
		regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^:@/]*:(.+)@`),
		regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^:@/]*:(.+?)@`),
		regexp.MustCompile(`^[^:@/]*:(.+)@`), // user:password@protocol(host)/name
		regexp.MustCompile(`^[^:@/]*:(.+?)@`),
		regexp.MustCompile(param + `'((?:[^'\\]|\\.|'')*)'`),
		regexp.MustCompile(param + `"([^"]*)"`),
		regexp.MustCompile(param + `\{([^}]*)\}`),
		regexp.MustCompile(param + `([^\s;&'"{][^\s;&]*)`),
	}
})

// WithDSN adds the passwords of a DSN, and the DSN itself if it contains one.
func (s Secrets) WithDSN(dsn string) Secrets {
	for _, re := range dsnPasswords() {
		for _, m := range re.FindAllStringSubmatch(dsn, -1) {
			s = s.with(m[1])
		}
	}
	if len(s) > 0 {
		s = s.with(dsn)
	}
	return s
}

// badEscape matches the net/url error for an invalid percent escape, which quotes a part
// of the password.
var badEscape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`invalid URL escape "[^"]*"`)
})

// text returns text with the secrets masked.
func (s Secrets) text(text string) string {
	if len(s) == 0 {
		return text
	}
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return badEscape().ReplaceAllString(text, "invalid URL escape")
}
