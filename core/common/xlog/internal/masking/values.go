package masking

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// JSON masks the values of such keys in a valid, compact JSON text.
func (m *Set) JSON(text []byte) []byte {
	if bytes.IndexByte(text, ':') < 0 {
		return text
	}
	var out []byte // nil as long as nothing was masked
	kept := 0      // what of text is in out
	for i := 0; i < len(text); {
		if text[i] != '"' {
			i++
			continue
		}
		end := jsonline.SkipString(text, i)
		if end == len(text) || text[end] != ':' || !m.Has(jsonline.Unquote(text[i:end])) {
			i = end
			continue
		}
		out = append(append(out, text[kept:end+1]...), `"`+Masked+`"`...)
		i = jsonline.SkipValue(text, end+1)
		kept = i
	}
	if kept == 0 {
		return text
	}
	return append(out, text[kept:]...)
}

// URL returns u without its password, a user without one, which is a token most of the time, and the
// values of secret parameters in query and fragment.
func (m *Set) URL(u *url.URL) string {
	c := *u
	if c.User != nil && c.User.Username() != "" {
		if _, set := c.User.Password(); !set {
			c.User = url.User("xxxxx")
		}
	}
	c.RawQuery = m.maskQuery(c.RawQuery)
	if raw := c.EscapedFragment(); raw != "" {
		c.RawFragment = m.maskQuery(raw)
		if plain, err := url.PathUnescape(c.RawFragment); err == nil {
			c.Fragment = plain
		}
	}
	return c.Redacted()
}

// secretParameters are, as last words of a name, those whose values are secret in a URL only.
var secretParameters = []string{"sig", "signature", "key", "code", "auth"}

// maskQuery masks the values of such parameters; everything else stays as it was written.
func (m *Set) maskQuery(raw string) string {
	if !strings.Contains(raw, "=") {
		return raw
	}
	parts := strings.Split(raw, "&")
	for i, part := range parts {
		name, _, given := strings.Cut(part, "=")
		if given && m.isSecretParameter(name) {
			parts[i] = name + "=" + Masked
		}
	}
	return strings.Join(parts, "&")
}

func (m *Set) isSecretParameter(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	k := read(name, nil, nil)
	return m.Has(name) || slices.ContainsFunc(secretParameters, func(word string) bool {
		_, isWord := k.endIn(len(k.text), word)
		return isWord
	})
}
