package dbconn

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Secrets are the secrets of one connection, to remove them from errors: libraries quote
// the whole DSN, or the part that they could not parse, in their errors.
type Secrets struct {
	secrets []string // longest first
}

// NewSecrets returns a password and the forms that it has in a DSN.
func NewSecrets(pass string) Secrets { return Secrets{}.with(pass) }

// with adds secrets.
func (s Secrets) with(secrets ...string) Secrets {
	all := slices.Clone(s.secrets)
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		_, userinfo, _ := strings.Cut(url.UserPassword("", secret).String(), ":")
		quoted := strconv.Quote(secret)
		all = append(all, secret, url.QueryEscape(secret), url.PathEscape(secret), userinfo, quoted[1:len(quoted)-1],
			strings.ReplaceAll(secret, "'", "''"), strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(secret))
		if plain, err := url.PathUnescape(secret); err == nil {
			all = append(all, plain)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return Secrets{slices.Compact(all)}
}

// dsnPasswords are the places in which the usual forms of a DSN hold a password. They
// match too much rather than too little: what they match is only replaced by a mask.
var dsnPasswords = sync.OnceValue(func() []*regexp.Regexp {
	const param = `(?i)(?:password|passwd|passphrase|pwd|pass|secret|token)\s*=\s*`
	return []*regexp.Regexp{
		regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^:@/]*:(.+)@`), // scheme://user:password@host
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
	if len(s.secrets) > 0 {
		s = s.with(dsn)
	}
	return s
}

// badEscape is the text of net/url for a percent sign that escapes nothing: it quotes a
// piece of the password.
var badEscape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`invalid URL escape "[^"]*"`) })

// text returns the text without its secrets.
func (s Secrets) text(text string) string {
	if len(s.secrets) == 0 {
		return text
	}
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return badEscape().ReplaceAllString(text, "invalid URL escape")
}

// Redact returns err itself if its text contains no secret, else an error that has only
// the redacted text and the kind.
func (s Secrets) Redact(err error, kind driver.ErrorKind) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	clean := s.text(text)
	if clean == text {
		return err
	}
	return driver.Translate(kind, errors.New(clean), strings.TrimPrefix(clean, kind.String()+": "))
}

// dsnForms are the forms of a DSN in which xdb finds the host and the name of the
// database.
type dsnForms struct{ url, mysql, plainHost, quoted, host, port, name *regexp.Regexp }

var forms = sync.OnceValue(func() dsnForms {
	return dsnForms{
		url:       regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://(?:.*@)?([^@/?#]*)(/[^?#@:]*)?`),
		mysql:     regexp.MustCompile(`^(?:.*@)?[a-z0-9]*\(([^()@]*)\)(/[^?#@:]*)?`),
		plainHost: regexp.MustCompile(`^(?:[A-Za-z0-9._-]+(?::\d+)?|\[[0-9A-Fa-f:.]+\](?::\d+)?|/[A-Za-z0-9._/-]+)$`),
		quoted:    regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'|"[^"]*"|\{[^}]*\}`),
		host:      regexp.MustCompile(`(?i)(?:^|[\s;])(?:host|server|data source)\s*=\s*([A-Za-z0-9.:\\_-]+)`),
		port:      regexp.MustCompile(`(?i)(?:^|[\s;])port\s*=\s*(\d+)`),
		name:      regexp.MustCompile(`(?i)(?:^|[\s;])(?:dbname|database|initial catalog)\s*=\s*([A-Za-z0-9_.-]+)`),
	}
})

// DescribeDSN returns the host, port and database name of a DSN, and nothing else of it;
// "" if the form of the DSN is unknown.
func DescribeDSN(dsn string) string {
	f := forms()
	for _, form := range []*regexp.Regexp{f.url, f.mysql} {
		if m := form.FindStringSubmatch(dsn); m != nil && f.plainHost.MatchString(m[1]) {
			return m[1] + m[2]
		}
	}
	dsn = f.quoted.ReplaceAllString(dsn, "") // it may hold what looks like a parameter
	host := f.host.FindStringSubmatch(dsn)
	if host == nil {
		return ""
	}
	where := host[1]
	if port := f.port.FindStringSubmatch(dsn); port != nil {
		where += ":" + port[1]
	}
	if name := f.name.FindStringSubmatch(dsn); name != nil {
		where += "/" + name[1]
	}
	return where
}
