package xhttp

import (
	"strings"

	"github.com/gin-gonic/gin"
	"golang.org/x/net/http/httpguts"
)

// GetAuthorization returns the token of an "Authorization: Bearer <token>" header.
//
// It returns "" if the header is missing, is malformed or has another scheme. Use
// ParseAuthorization for other schemes. GetAuthorization does not verify the token.
func GetAuthorization(c *gin.Context) string { return bearer(header(c, Authorization)) }

// ParseAuthorization splits the value of an Authorization header into its scheme and its
// credentials (RFC 9110, section 11.4). It returns false if either is missing.
func ParseAuthorization(value string) (scheme, credentials string, ok bool) {
	scheme, credentials, ok = strings.Cut(strings.Trim(value, " \t"), " ")
	credentials = strings.TrimLeft(credentials, " \t")
	// a scheme has the same syntax as a header name
	if !ok || credentials == "" || !httpguts.ValidHeaderFieldName(scheme) {
		return "", "", false
	}
	return scheme, credentials, true
}

// GetToken returns the token in the named header, with or without a leading "Bearer ". It
// returns "" if the header is missing or malformed.
//
// Use it for headers such as RefreshToken, which usually contain only a token.
func GetToken(c *gin.Context, name Header) string {
	value := strings.Trim(header(c, name), " \t")
	if isToken68(value) {
		return value
	}
	return bearer(value)
}

// bearer returns the token of an Authorization value with the scheme Bearer (RFC 6750),
// or "". It compares the scheme case-insensitively.
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

// isToken68 reports whether s is a token68 (RFC 9110, section 11.2), with optional
// padding at its end.
func isToken68(s string) bool {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/"
	s = strings.TrimRight(s, "=")
	return s != "" && strings.Trim(s, characters) == ""
}
