package xerror

import (
	"context"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/internal/accept"
)

// maxAcceptLanguage is how many bytes of the header count. Browsers send well under 100.
const maxAcceptLanguage = 256

// Language returns the language of ctx's request, "en" or "zh", by its Accept-Language
// header (RFC 9110, section 12.5.4). Without a request, a header or a match it is
// English.
func Language(ctx context.Context) string {
	if r := xctx.RequestFrom(ctx); r != nil && r.AcceptLanguage() != "" {
		return negotiate(r.AcceptLanguage())
	}
	return English
}

// negotiate chooses the language of the greatest weight, the first one among equals.
func negotiate(header string) string {
	best, most, others := English, 0, 0 // others is the weight of the languages that are not named
	english, chinese := false, false
	for tag, weight := range accept.Elements(header[:min(len(header), maxAcceptLanguage)]) {
		lang := languageOf(tag)
		english, chinese = english || lang == English, chinese || lang == Chinese
		switch {
		case tag == "*":
			others = weight
		case lang != "" && weight > most:
			best, most = lang, weight
		}
	}
	switch {
	case others > most && !english:
		return English
	case others > most && !chinese:
		return Chinese
	default:
		return best
	}
}

// subtags are the first subtags of the languages of the catalogue (ISO 639).
var subtags = map[string]string{
	"en": English, "eng": English,
	"zh": Chinese, "zho": Chinese, "chi": Chinese, "cmn": Chinese, "yue": Chinese,
}

// languageOf returns the language of a tag, or "" if it is none of the catalogue's.
func languageOf(tag string) string {
	if end := strings.IndexAny(tag, "-_"); end >= 0 {
		tag = tag[:end]
	}
	return subtags[strings.ToLower(tag)]
}
