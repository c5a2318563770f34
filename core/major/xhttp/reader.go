package xhttp

import (
	"strings"

	"github.com/gin-gonic/gin"
)

// schemeBearer is the authentication scheme of RFC 6750; schemes are compared without case.
const schemeBearer = "Bearer"

// GetAuthorization returns the token of an "Authorization: Bearer <token>" header.
//
// It is "" where the header is missing, malformed or of another scheme; ParseAuthorization reads
// those. The token is not verified.
func GetAuthorization(c *gin.Context) string {
	scheme, token, ok := ParseAuthorization(GetHeader(c, Authorization))
	if !ok || !strings.EqualFold(scheme, schemeBearer) || !isToken68(token) {
		return ""
	}
	return token
}

// ParseAuthorization splits the value of an Authorization header into its scheme and its credentials
// (RFC 9110, section 11.4). It reports false where either is missing.
func ParseAuthorization(value string) (scheme, credentials string, ok bool) {
	scheme, credentials, ok = strings.Cut(strings.Trim(value, " \t"), " ")
	credentials = strings.TrimLeft(credentials, " \t")
	if !ok || credentials == "" || !isSchemeName(scheme) {
		return "", "", false
	}
	return scheme, credentials, true
}

// GetToken returns the token that the header carries, with or without a leading "Bearer ", or "".
//
// It serves headers such as RefreshToken, whose value is usually the bare token.
func GetToken(c *gin.Context, header Header) string {
	value := GetHeader(c, header)
	if scheme, token, ok := ParseAuthorization(value); ok && strings.EqualFold(scheme, schemeBearer) {
		value = token
	}
	if !isToken68(value) {
		return ""
	}
	return value
}

// GetHeader returns the first value of a request header without surrounding blanks, or "".
func GetHeader(c *gin.Context, header Header) string {
	if c.Request == nil {
		return ""
	}
	return strings.Trim(c.Request.Header.Get(string(header)), " \t")
}

// GetRequestUUID returns the request id as the client sent it, unchecked. The id that the request
// really has is xctxutil.GetRequestKey's.
func GetRequestUUID(c *gin.Context) string { return GetHeader(c, RequestUUID) }

// GetUserAgent returns the request's User-Agent header.
func GetUserAgent(c *gin.Context) string { return GetHeader(c, UserAgent) }

// GetReferer returns the request's Referer header.
func GetReferer(c *gin.Context) string { return GetHeader(c, Referer) }

// isSchemeName reports whether s is a token in the sense of RFC 9110, section 5.6.2.
func isSchemeName(s string) bool {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

// isToken68 reports whether s is a token68 (RFC 9110, section 11.2): one word, padding at its end.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && !strings.ContainsRune("-._~+/", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

func isAlphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
