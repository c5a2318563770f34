// Package accept parses weighted lists of HTTP headers, such as Accept and
// Accept-Encoding (RFC 9110, section 12.4.2).
package accept

import (
	"iter"
	"strconv"
	"strings"
)

// Items returns the items of a header with their weights, in lower case and without
// parameters. The weight is 1 if it is missing, and 0 if it is not a number. Empty items
// are skipped.
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
