package notifyx

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/language"
)

// maxLanguage bounds what is read of an Accept-Language header. Browsers send well under
// 100 bytes.
const maxLanguage = 256

// parseTag reads the language of a part; "" is language.Und.
func parseTag(text string) (language.Tag, error) {
	if text == "" {
		return language.Und, nil
	}
	tag, err := language.Parse(text)
	if err == nil && tag == language.Und {
		err = errors.New("undetermined")
	}
	if err != nil {
		return language.Und, fmt.Errorf("%q is no BCP 47 language tag", text)
	}
	return tag, nil
}

// choose returns the key of the language that serves a reader best: the first of the
// header's that the set has, else English, else none.
func (s *templateSet) choose(header string) string {
	// by falling weight, without those of weight 0
	ranges, _, err := language.ParseAcceptLanguage(trimLanguage(header))
	if err != nil {
		ranges = nil
	}
	for _, r := range append(ranges, language.English) {
		if len(s.tags) == 0 {
			return ""
		}
		if _, at, confidence := s.matcher.Match(r); confidence != language.No {
			return s.tags[at].String()
		}
	}
	return ""
}

// trimLanguage returns the ranges of a header that are within the bound.
func trimLanguage(header string) string {
	if len(header) <= maxLanguage {
		return header
	}
	header = header[:maxLanguage]
	return header[:max(0, strings.LastIndexByte(header, ','))]
}

// breaksLine reports whether a reader of a header or a line may take the character for
// its end.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
