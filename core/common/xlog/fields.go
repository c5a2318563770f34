package xlog

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// field is an attribute as it stands in a line; groups are joined with dots in its key.
type field struct {
	key   string
	value []byte // JSON
}

// text returns the value's text.
func (f field) text() string { return unquote(f.value) }

// shown returns how a terminal shows the value: a string as a word, everything else as JSON.
func (f field) shown() string {
	if len(f.value) > 0 && f.value[0] == '"' {
		return word(unquote(f.value))
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
	for k, v := range fields(value) {
		list = flatten(list, key+"."+k, v)
	}
	return list
}

// fields iterates over the members of a compact JSON object.
func fields(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := 1; i < len(object) && object[i] == '"'; {
			colon := skipString(object, i)
			if colon >= len(object) {
				return
			}
			end := skipValue(object, colon+1)
			if !yield(unquote(object[i:colon]), object[colon+1:end]) {
				return
			}
			i = end + 1 // a comma, or the end
		}
	}
}

// unquote returns the text of a JSON string, and the JSON of everything else.
func unquote(value []byte) string {
	if len(value) < len(`""`) || value[0] != '"' {
		return string(value)
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var s string
	_ = json.Unmarshal(value, &s) // the line's own encoding
	return s
}
