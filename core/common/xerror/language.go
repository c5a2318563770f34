package xerror

import (
	"context"
	"strings"
	"sync"

	"golang.org/x/text/language"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// maxAcceptLanguage bounds the header that is parsed. Browsers send well under 100 bytes; of a longer
// one only the first range is looked at.
const maxAcceptLanguage = 256

// Language returns the language of ctx's request, "en" or "zh", by its Accept-Language header (RFC
// 9110, section 12.5.4). Without a request, a header or a match it is English.
func Language(ctx context.Context) string {
	if r := xctx.RequestFrom(ctx); r != nil {
		return negotiate(r.AcceptLanguage())
	}
	return English
}

// negotiate chooses a language for an Accept-Language header.
func negotiate(header string) string {
	if header == "" {
		return English
	}
	if lang := first(header); lang != "" {
		return lang
	}
	if len(header) > maxAcceptLanguage {
		return English
	}
	return parse(header)
}

// parse is negotiate for whatever is not common.
func parse(header string) string {
	ranges, _, err := language.ParseAcceptLanguage(header) // by falling weight, without those of weight 0
	if err != nil {
		return English
	}
	matcher := matcher()
	for _, r := range ranges {
		if r == wildcard {
			if lang := unnamed(header); lang != "" {
				return lang
			}
			continue
		}
		if _, at, confidence := matcher.Match(r); confidence != language.No {
			return languages[at]
		}
	}
	return English
}

// first answers the common headers without parsing: a first range without a weight has the weight 1,
// which none after it exceeds.
func first(header string) string {
	element, _, _ := strings.Cut(header, ",")
	if strings.Contains(element, ";") {
		return ""
	}
	return primary(element)
}

// primary returns the language of a range whose first subtag is one of ours, or "".
func primary(element string) string {
	element = strings.TrimLeft(element, " \t")
	if len(element) < 2 || len(element) > 2 && !strings.ContainsRune("-_; \t", rune(element[2])) {
		return ""
	}
	for _, lang := range languages {
		if strings.EqualFold(element[:2], lang) {
			return lang
		}
	}
	return ""
}

// unnamed returns the first of our languages that the header does not name, which is the one that "*"
// stands for.
func unnamed(header string) string {
	named := map[string]bool{}
	for element := range strings.SplitSeq(header, ",") {
		named[primary(element)] = true
	}
	for _, lang := range languages {
		if !named[lang] {
			return lang
		}
	}
	return ""
}

// languages are those of the catalogue, in the order of the matcher's tags.
var languages = [...]string{English, Chinese}

// wildcard is what ParseAcceptLanguage makes of "*".
var wildcard = language.Make("mul")

// matcher is built at first use.
var matcher = sync.OnceValue(func() language.Matcher {
	return language.NewMatcher([]language.Tag{language.English, language.Chinese})
})

func isChinese(lang string) bool { return primary(lang) == Chinese }
