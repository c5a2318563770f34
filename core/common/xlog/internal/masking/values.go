package masking

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"regexp"
	"strings"
)

// maskJSON masks the values of such keys in a valid, compact JSON text. It fails where
// encoding/json does not read the text, as one that is nested too deep.
func (m *Set) maskJSON(text []byte) ([]byte, error) {
	if !m.mayHold(text) {
		return text, nil
	}
	var out []byte
	var kept int64 // what of text is in out
	tokens := json.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return append(out, text[kept:]...), nil
		}
		if err != nil {
			return nil, err
		}
		key, isText := token.(string)
		colon := tokens.InputOffset()
		if !isText || colon == int64(len(text)) || text[colon] != ':' || !m.Has(key) {
			continue
		}
		out = append(append(out, text[kept:colon+1]...), `"`+Masked+`"`...)
		var value json.RawMessage
		if err := tokens.Decode(&value); err != nil {
			return nil, err
		}
		kept = tokens.InputOffset()
	}
}

// mayHold reports whether a key of a compact JSON text is masked, or some key may be.
// Without escapes, a quote and a colon end each key. They may begin a text too, and then
// what is before them is taken for a key.
func (m *Set) mayHold(text []byte) bool {
	if bytes.IndexByte(text, '\\') >= 0 {
		return true
	}
	for {
		key, rest, found := bytes.Cut(text, []byte(`":`))
		if !found {
			return false
		}
		if m.Has(string(key[bytes.LastIndexByte(key, '"')+1:])) {
			return true
		}
		text = rest
	}
}

// maskURL returns u without its password, a user without one, which is a token most of
// the time, and the values of secret parameters in query and fragment.
func (m *Set) maskURL(u *url.URL) string {
	c := *u
	if _, set := c.User.Password(); !set && c.User.Username() != "" {
		c.User = url.User("xxxxx")
	}
	return parameter.ReplaceAllStringFunc(c.Redacted(), func(text string) string {
		name, _, _ := strings.Cut(text, "=")
		if m.isSecretParameter(name[1:]) {
			return name + "=" + Masked
		}
		return text
	})
}

// parameter finds one of a query or a fragment with the character before it.
var parameter = regexp.MustCompile(`[?#&][^?#&=]*=[^#&]*`)

// secretParameters are, as last words of a name, those whose values are secret in a URL
// only.
var secretParameters = []string{"sig", "signature", "key", "code", "auth"}

func (m *Set) isSecretParameter(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	k := read(name, nil, nil)
	return m.Has(name) || k.endIn(len(k.text), secretParameters, true)
}
