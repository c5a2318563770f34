// Package accept reads the weighted lists of HTTP headers, such as Accept and
// Accept-Encoding (RFC 9110, section 12.4.2).
package accept

import (
	"iter"
	"strconv"
	"strings"
)

// Items returns what the values of a header name, in lower case and without parameters,
// each with its weight: 1 where there is none, and 0 where it is no number. Empty items
// are left out.
func Items(values []string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
			name, parameters, _ := strings.Cut(item, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			if name != "" && !yield(name, weight(parameters)) {
				return
			}
		}
	}
}

func weight(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}
