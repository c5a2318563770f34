package xenv

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseBool accepts what strconv.ParseBool does, and yes, no, on and off, in any case.
func parseBool(s string) (bool, bool) {
	switch strings.ToLower(s) {
	case "yes", "on":
		return true, true
	case "no", "off":
		return false, true
	}
	v, err := strconv.ParseBool(strings.ToLower(s))
	return v, err == nil
}

// parseDuration reads "1m30s"; where unit is not zero, also a whole number of units.
func parseDuration(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && (unit != 0 || n == 0) {
		if unit != 0 && (n > math.MaxInt64/int64(unit) || n < math.MinInt64/int64(unit)) {
			return 0, false
		}
		return time.Duration(n) * unit, true
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

func parseList(s string) (list []string) {
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
