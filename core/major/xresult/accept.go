package xresult

import "strings"

// How closely a media range names a media type (RFC 9110, section 12.5.1).
const (
	notNamed = iota
	namedByAny
	namedByType
	namedExactly
)

// maxQuality is the weight 1 in thousandths.
const maxQuality = 1000

// quality returns the weight, in thousandths, that the Accept header gives to a media type, and how
// closely it names it. The closest range decides; without any range at all everything is accepted.
func quality(accept []string, mediaType string) (weight, closeness int) {
	for _, line := range accept {
		for entry := range strings.SplitSeq(line, ",") {
			mediaRange, parameters, _ := strings.Cut(entry, ";")
			if near := match(strings.TrimSpace(mediaRange), mediaType); near > closeness {
				weight, closeness = parseWeight(parameters), near
			}
		}
	}
	if len(accept) == 0 {
		return maxQuality, notNamed
	}
	return weight, closeness
}

// match says how closely a media range names a media type.
func match(mediaRange, mediaType string) int {
	switch kind, _, _ := strings.Cut(mediaType, "/"); {
	case strings.EqualFold(mediaRange, mediaType):
		return namedExactly
	case mediaRange == "*/*":
		return namedByAny
	case len(mediaRange) == len(kind)+2 && strings.EqualFold(mediaRange[:len(kind)], kind) && mediaRange[len(kind):] == "/*":
		return namedByType
	default:
		return notNamed
	}
}

// parseWeight returns the weight among the parameters in thousandths. A malformed weight is 0: what a
// client cannot ask for properly it does not get.
func parseWeight(parameters string) int {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		return parseThousandths(strings.TrimSpace(value))
	}
	return maxQuality
}

// parseThousandths reads a qvalue (RFC 9110, section 12.4.2): 0 to 1 with at most three decimals.
func parseThousandths(value string) int {
	whole, decimals, _ := strings.Cut(value, ".")
	if len(decimals) > 3 || whole != "0" && whole != "1" {
		return 0
	}
	weight := int(whole[0] - '0')
	for i := range 3 {
		weight *= 10
		if i >= len(decimals) {
			continue
		}
		if decimals[i] < '0' || decimals[i] > '9' {
			return 0
		}
		weight += int(decimals[i] - '0')
	}
	return min(weight, maxQuality)
}

// preferred returns the offer that the Accept header weighs most. Among equals the first wins, also
// when none is accepted: an answer in an unwanted type is of more use than none.
func preferred(accept []string, offers ...string) string {
	best, bestWeight := offers[0], 0
	for _, offer := range offers {
		if weight, _ := quality(accept, offer); weight > bestWeight {
			best, bestWeight = offer, weight
		}
	}
	return best
}
