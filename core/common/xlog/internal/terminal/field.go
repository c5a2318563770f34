package terminal

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// field is an attribute of a line. Dots join the keys of its groups.
type field struct {
	key   string
	value []byte // JSON
}

func (f field) text() string { return jsonline.Unquote(f.value) }

// format returns the value as shown on a terminal: a string as a word, a duration with
// its unit, and other values as JSON.
func (f field) format() string {
	if len(f.value) > 0 && f.value[0] == '"' {
		return quoteWord(f.text())
	}
	if ms, err := strconv.ParseFloat(string(f.value), 64); err == nil && f.isDuration() {
		return duration(ms)
	}
	return string(f.value)
}

var durationKeys = []string{"took", "duration", "wait", "elapsed", "latency"}

func (f field) isDuration() bool {
	return slices.Contains(durationKeys, f.lastKey()) || strings.HasSuffix(f.key, "_ms")
}

// lastKey returns the key without its groups.
func (f field) lastKey() string { return f.key[strings.LastIndexByte(f.key, '.')+1:] }

// duration formats milliseconds with a unit, rounded to three digits or to seconds:
// 3.12ms.
func duration(ms float64) string {
	ns := ms * float64(time.Millisecond)
	if math.Abs(ns) >= math.MaxInt64 {
		return fmt.Sprint(ms, "ms")
	}
	d := time.Duration(math.Round(ns))
	unit := time.Duration(1)
	for unit < time.Second && d.Abs() >= 1000*unit {
		unit *= 10
	}
	return d.Round(min(unit, time.Second)).String()
}

// maxNested limits the depth of expanded objects: each level decodes its content again.
const maxNested = 16

// flatten appends a field, or the members of an object at depth.
func flatten(list []field, key string, value []byte, depth int) []field {
	if len(value) <= len("{}") || value[0] != '{' || depth == maxNested {
		return append(list, field{key, value})
	}
	for k, v := range jsonline.Members(value) {
		list = flatten(list, key+"."+k, v, depth+1)
	}
	return list
}
