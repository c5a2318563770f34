package terminal

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// field is an attribute as it stands in a line; groups are joined with dots in its key.
type field struct {
	key   string
	value []byte // JSON
}

// text returns the value's text.
func (f field) text() string { return jsonline.Unquote(f.value) }

// shown returns how a terminal shows the value: a string as a word, everything else as JSON.
func (f field) shown() string {
	if len(f.value) > 0 && f.value[0] == '"' {
		return word(jsonline.Unquote(f.value))
	}
	return string(f.value)
}

// isDuration reports whether the value is a number of milliseconds, by the names that durations have
// in the lines of Plinth.
func (f field) isDuration() bool {
	_, last := cutLast(f.key, '.')
	switch last {
	case "took", "duration", "wait", "elapsed", "latency":
	default:
		if !strings.HasSuffix(last, "_ms") {
			return false
		}
	}
	_, err := strconv.ParseFloat(string(f.value), 64)
	return err == nil
}

// duration returns a number of milliseconds with its unit, rounded to three digits: 3.12ms.
func (f field) duration() string {
	ms, _ := strconv.ParseFloat(string(f.value), 64)
	ns := ms * float64(time.Millisecond)
	if math.Abs(ns) >= math.MaxInt64 {
		return f.shown() + "ms"
	}
	d := time.Duration(math.Round(ns))
	if d.Abs() >= time.Minute {
		return d.Round(time.Second).String()
	}
	for unit := time.Duration(1); unit < time.Minute; unit *= 10 {
		if d.Abs() < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

// cutLast divides s at the last sep; before is "" if there is none.
func cutLast(s string, sep byte) (before, after string) {
	i := strings.LastIndexByte(s, sep)
	return s[:max(i, 0)], s[i+1:]
}

// flatten appends a field, or those of an object.
func flatten(list []field, key string, value []byte) []field {
	if len(value) <= len("{}") || value[0] != '{' {
		return append(list, field{key, value})
	}
	for k, v := range jsonline.Members(value) {
		list = flatten(list, key+"."+k, v)
	}
	return list
}
