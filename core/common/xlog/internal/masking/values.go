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

// maskJSON masks values in valid, compact JSON by their keys. It returns the error of
// encoding/json, for example if the nesting is too deep.
func (m *Set) maskJSON(text []byte) ([]byte, error) {
	if !m.mayContain(text) {
		return text, nil
	}
	var out []byte
	var copied int64 // bytes of text that are copied to out or masked
	tokens := json.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return append(out, text[copied:]...), nil
		}
		if err != nil {
			return nil, err
		}
		key, isText := token.(string)
		colon := tokens.InputOffset()
		if !isText || colon == int64(len(text)) || text[colon] != ':' || !m.Has(key) {
			continue
		}
		out = append(append(out, text[copied:colon+1]...), `"`+Masked+`"`...)
		var value json.RawMessage
		if err := tokens.Decode(&value); err != nil {
			return nil, err
		}
		copied = tokens.InputOffset()
	}
}

// mayContain reports whether compact JSON may contain a masked key. Without escapes, a
// quote and a colon follow each key. A string value may contain both, which is a harmless
// false positive.
func (m *Set) mayContain(text []byte) bool {
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

// maskURL returns u without its password, and with masked values of secret parameters in
// query and fragment. It also replaces a user without a password, which is usually a
// token.
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

// parameter matches a parameter of a query or fragment and the character before it.
var parameter = regexp.MustCompile(`[?#&][^?#&=]*=[^#&]*`)

// secretParameters are last words of parameter names that are secret in URLs only.
var secretParameters = []string{"sig", "signature", "key", "code", "auth"}

func (m *Set) isSecretParameter(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	k := parse(name, nil, nil)
	return m.Has(name) || k.hasSuffix(len(k.text), secretParameters, true)
}
