package xresult

import (
	"strings"

	"github.com/plinthgo/plinth/core/internal/accept"
)

// How closely a media range names a media type (RFC 9110, section 12.5.1).
const (
	notNamed = iota
	namedByAny
	namedByType
	namedExactly
)

// quality returns the weight, in thousandths, that the Accept header gives to a media
// type, and how closely it names it. The closest range decides; without any range at all
// everything is accepted.
func quality(header []string, mediaType string) (weight, closeness int) {
	if len(header) == 0 {
		return accept.MaxWeight, notNamed
	}
	for _, line := range header {
		for mediaRange, w := range accept.Elements(line) {
			if near := match(mediaRange, mediaType); near > closeness {
				weight, closeness = w, near
			}
		}
	}
	return weight, closeness
}

// match says how closely a media range names a media type.
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

// preferred returns the offer that the Accept header weighs most. Among equals the first
// wins, also when none is accepted: an answer in an unwanted type is of more use than
// none.
func preferred(header []string, offers ...string) string {
	best, bestWeight := offers[0], 0
	for _, offer := range offers {
		if weight, _ := quality(header, offer); weight > bestWeight {
			best, bestWeight = offer, weight
		}
	}
	return best
}
