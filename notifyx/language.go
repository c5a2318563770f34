package notifyx

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/language"
)

// maxLanguage limits the length of an Accept-Language value. Browsers send well under 100
// bytes.
const maxLanguage = 256

// parseTag parses the language of a part; "" is language.Und.
func parseTag(text string) (language.Tag, error) {
	if text == "" {
		return language.Und, nil
	}
	tag, err := language.Parse(text)
	if err == nil && tag == language.Und {
		err = errors.New("undetermined")
	}
	if err != nil {
		return language.Und, fmt.Errorf("%q is not a BCP 47 language tag", text)
	}
	return tag, nil
}

// choose returns the key of the language that fits the header best: the first language of
// the header that the set supports, else English, else "".
func (s *templateSet) choose(header string) string {
	// sorted by descending weight, without languages of weight 0
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

// trimLanguage returns the leading language ranges of a header that fit in maxLanguage.
func trimLanguage(header string) string {
	if len(header) <= maxLanguage {
		return header
	}
	header = header[:maxLanguage]
	return header[:max(0, strings.LastIndexByte(header, ','))]
}

// breaksLine reports whether a parser may read the character as the end of a header or
// line.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
