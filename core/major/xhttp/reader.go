package xhttp

import (
	"strings"

	"github.com/gin-gonic/gin"
	"golang.org/x/net/http/httpguts"
)

// GetAuthorization returns the token of an "Authorization: Bearer <token>" header.
//
// It is "" where the header is missing, malformed or of another scheme;
// ParseAuthorization reads those. The token is not verified.
func GetAuthorization(c *gin.Context) string { return bearer(header(c, Authorization)) }

// ParseAuthorization splits the value of an Authorization header into its scheme and its
// credentials (RFC 9110, section 11.4). It reports false where either is missing.
func ParseAuthorization(value string) (scheme, credentials string, ok bool) {
	scheme, credentials, ok = strings.Cut(strings.Trim(value, " \t"), " ")
	credentials = strings.TrimLeft(credentials, " \t")
	// names and schemes are tokens alike
	if !ok || credentials == "" || !httpguts.ValidHeaderFieldName(scheme) {
		return "", "", false
	}
	return scheme, credentials, true
}

// GetToken returns the token that the header carries, with or without a leading "Bearer
// ", or "".
//
// It serves headers such as RefreshToken, whose value is usually the bare token.
func GetToken(c *gin.Context, name Header) string {
	value := strings.Trim(header(c, name), " \t")
	if isToken68(value) {
		return value
	}
	return bearer(value)
}

// bearer returns the token of the value of an Authorization header with the scheme Bearer
// (RFC 6750), or "". Schemes are compared without case.
func bearer(value string) string {
	scheme, token, ok := ParseAuthorization(value)
	if !ok || !strings.EqualFold(scheme, "Bearer") || !isToken68(token) {
		return ""
	}
	return token
}

func header(c *gin.Context, name Header) string {
	if c.Request == nil {
		return ""
	}
	return name.Get(c.Request.Header)
}

// isToken68 reports whether s is a token68 (RFC 9110, section 11.2): one word, padding at
// its end.
func isToken68(s string) bool {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/"
	s = strings.TrimRight(s, "=")
	return s != "" && strings.Trim(s, characters) == ""
}
