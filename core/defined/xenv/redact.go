package xenv

import (
	"regexp"
	"strings"
)

var (
	// credential matches a password parameter of a connection string or a query.
	credential = regexp.MustCompile(
		`(?is)([\w.-]*(?:pass|passwd|password|pwd|secret|token|key)\s*=\s*)` +
			`(?:'(?:[^'\\]|\\.|'')*'?|"(?:[^"]|"")*"?|\{[^}]*\}?|[^\s;&]*)`)
	// userinfo matches a password or a token before the last @ of a value. It extends to
	// the last @ because an unescaped password may contain any character.
	userinfo = regexp.MustCompile(`(?s)([A-Za-z][\w+.-]*://(?:[^\s:@/?#]*:)?|[^\s:@/?#,;"'(]*:).*@`)
)

// Redact replaces the credentials in value with ***. Credentials are the password of a
// URL, of user:password@host or of a connection string, and the user of a URL without a
// password. Redact may mask more of a value that only resembles one of these forms.
func Redact(value string) string {
	at := strings.LastIndexByte(value, '@')
	for _, m := range credential.FindAllStringIndex(value, -1) {
		if m[0] < at && at < m[1] && userinfo.MatchString(value) {
			return redacted // the @ may be part of either password
		}
	}
	return credential.ReplaceAllString(userinfo.ReplaceAllString(value, "${1}"+redacted+"@"),
		"${1}"+redacted)
}

const redacted = "***"
