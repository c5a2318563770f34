package xresult

import (
	"strings"

	"github.com/plinthgo/plinth/core/internal/accept"
)

// These constants express how precisely a media range matches a media type (RFC 9110,
// section 12.5.1).
const (
	notNamed = iota
	namedByAny
	namedByType
	namedExactly
)

// quality returns the weight of a media type in the Accept header, in thousandths, and
// how precisely the header names the type. The most precise range determines the weight.
// Without a header every type has the maximum weight.
func quality(header []string, mediaType string) (weight, precision int) {
	if len(header) == 0 {
		return accept.MaxWeight, notNamed
	}
	for _, line := range header {
		for mediaRange, w := range accept.Elements(line) {
			if p := match(mediaRange, mediaType); p > precision {
				weight, precision = w, p
			}
		}
	}
	return weight, precision
}

func match(mediaRange, mediaType string) int {
	prefix, anySubtype := strings.CutSuffix(mediaRange, "/*")
	kind, _, _ := strings.Cut(mediaType, "/")
	switch {
	case strings.EqualFold(mediaRange, mediaType):
		return namedExactly
	case mediaRange == "*/*":
		return namedByAny
	case anySubtype && strings.EqualFold(prefix, kind):
		return namedByType
	default:
		return notNamed
	}
}

// preferred returns the offer with the highest weight. If several have the same weight,
// or if no offer is accepted, it returns the first.
func preferred(header []string, offers ...string) string {
	best, bestWeight := offers[0], 0
	for _, offer := range offers {
		if weight, _ := quality(header, offer); weight > bestWeight {
			best, bestWeight = offer, weight
		}
	}
	return best
}
