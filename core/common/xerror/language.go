package xerror

import (
	"context"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/internal/accept"
)

// maxAcceptLanguage is the maximum number of bytes of the header that Language parses.
// Browsers send fewer than 100.
const maxAcceptLanguage = 256

// Language returns the language of the request in ctx, "en" or "zh", according to its
// Accept-Language header (RFC 9110, section 12.5.4). The default is English.
func Language(ctx context.Context) string {
	if r := xctx.RequestFrom(ctx); r != nil && r.AcceptLanguage() != "" {
		return negotiate(r.AcceptLanguage())
	}
	return English
}

// negotiate returns the language with the highest weight. If several languages have that
// weight, it returns the first.
func negotiate(header string) string {
	best, bestWeight, wildcard := English, 0, 0 // wildcard is the weight of unnamed languages
	english, chinese := false, false
	for tag, weight := range accept.Elements(header[:min(len(header), maxAcceptLanguage)]) {
		lang := languageOf(tag)
		english, chinese = english || lang == English, chinese || lang == Chinese
		switch {
		case tag == "*":
			wildcard = weight
		case lang != "" && weight > bestWeight:
			best, bestWeight = lang, weight
		}
	}
	switch {
	case wildcard > bestWeight && !english:
		return English
	case wildcard > bestWeight && !chinese:
		return Chinese
	default:
		return best
	}
}

// subtags maps primary language subtags (ISO 639) to languages.
var subtags = map[string]string{
	"en": English, "eng": English,
	"zh": Chinese, "zho": Chinese, "chi": Chinese, "cmn": Chinese, "yue": Chinese,
}

// languageOf returns the language of a tag, or "" if it is unsupported.
func languageOf(tag string) string {
	if end := strings.IndexAny(tag, "-_"); end >= 0 {
		tag = tag[:end]
	}
	return subtags[strings.ToLower(tag)]
}
