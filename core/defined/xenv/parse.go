package xenv

import (
	"math"
	"strconv"
	"strings"
	"time"
)

func parseString(s string) (string, bool) { return s, true }

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

func parseInt(s string) (int, bool) {
	v, err := strconv.Atoi(strings.TrimSpace(s))
	return v, err == nil
}

func parseInt64(s string) (int64, bool) {
	v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return v, err == nil
}

func parseFloat(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
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

func parseList(s string) ([]string, bool) {
	var list []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list, true
}
