// Package phrase contains messages about requests in the languages of the error
// catalogue.
package phrase

import (
	"strconv"
	"strings"
)

// Phrase is a message in both languages. The placeholders {0} and {1} stand for its
// parameters.
type Phrase struct{ English, Chinese string }

// Phrases of body errors.
var (
	NoBody     = Phrase{"the request has no body", "请求体为空"}
	Syntax     = Phrase{"the body is not valid JSON at byte {0}", "请求体在第 {0} 字节处不是有效的 JSON"}
	Unreadable = Phrase{"the request cannot be read", "无法解析请求"}
)

// In returns the message in lang: Chinese for "zh", otherwise English. It replaces {0},
// {1} and so on with params.
func (p Phrase) In(lang string, params ...string) string {
	text := p.English
	if lang == "zh" {
		text = p.Chinese
	}
	for i, param := range params {
		text = strings.Replace(text, "{"+strconv.Itoa(i)+"}", param, 1)
	}
	return text
}

// maxShown is the maximum length, in bytes, of a name that a client sent and that a
// message contains.
const maxShown = 32

// Shown returns a name that a client sent in the form for a message. If the name is short
// and consists of ASCII letters, digits, "_" and "-", Shown returns it unchanged.
// Otherwise it returns "*".
func Shown(name string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if name == "" || len(name) > maxShown || strings.Trim(name, plain) != "" {
		return "*"
	}
	return name
}
