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

// Secrets are the secrets of one connection, to remove them from errors: libraries quote
// the whole DSN, or the part that they could not parse, in their errors.
type Secrets []string // longest first

// NewSecrets returns a password and the forms that it has in a DSN.
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

// dsnPasswords are the places in which the usual forms of a DSN hold a password. They
// match too much rather than too little: what they match is only replaced by a mask.
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

// badEscape is the text of net/url for a percent sign that escapes nothing: it quotes a
// piece of the password.
var badEscape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`invalid URL escape "[^"]*"`)
})

// text returns the text without its secrets.
func (s Secrets) text(text string) string {
	if len(s) == 0 {
		return text
	}
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return badEscape().ReplaceAllString(text, "invalid URL escape")
}
