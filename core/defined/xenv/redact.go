package xenv

import (
	"regexp"
	"strings"
)

var (
	// credential finds a password that is a member of a connection string or a query.
	credential = regexp.MustCompile(
		`(?is)([\w.-]*(?:pass|passwd|password|pwd|secret|token|key)\s*=\s*)` +
			`(?:'(?:[^'\\]|\\.|'')*'?|"(?:[^"]|"")*"?|\{[^}]*\}?|[^\s;&]*)`)
	// userinfo finds a password or a token before the last @ of a value. It ends there
	// because a password that is not escaped may contain any character.
	userinfo = regexp.MustCompile(`(?s)([A-Za-z][\w+.-]*://(?:[^\s:@/?#]*:)?|[^\s:@/?#,;"'(]*:).*@`)
)

// Redact returns a value with *** in place of the credentials that it contains: the
// password of a URL, of user:password@host or of a connection string, and a user of a URL
// who has no password. A value that only looks like one may lose more than that.
func Redact(value string) string {
	at := strings.LastIndexByte(value, '@')
	for _, m := range credential.FindAllStringIndex(value, -1) {
		if m[0] < at && at < m[1] && userinfo.MatchString(value) {
			return redacted // the @ may be one of either password
		}
	}
	return credential.ReplaceAllString(userinfo.ReplaceAllString(value, "${1}"+redacted+"@"),
		"${1}"+redacted)
}

const redacted = "***"
