package xvalid

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/internal/jsonplan"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

var (
	textTruncated = phrase.Phrase{English: "the body is truncated", Chinese: "请求体不完整"}
	textTooLarge  = phrase.Phrase{
		English: "the body is larger than {0} bytes",
		Chinese: "请求体超过 {0} 字节",
	}
	textNumber = phrase.Phrase{
		English: "a value is not a valid number",
		Chinese: "有一个值不是有效的数字",
	}
	textTime = phrase.Phrase{
		English: "a value is not a valid time",
		Chinese: "有一个值不是有效的时间",
	}
	textType = phrase.Phrase{English: "{0} must be {1}", Chinese: "{0}必须是{1}"}
	textBody = phrase.Phrase{English: "the body", Chinese: "请求体"}

	wantBool     = phrase.Phrase{English: "true or false", Chinese: "布尔值"}
	wantInteger  = phrase.Phrase{English: "an integer", Chinese: "整数"}
	wantRange    = phrase.Phrase{English: "an integer from {0} to {1}", Chinese: "{0} 到 {1} 之间的整数"}
	wantPositive = phrase.Phrase{English: "a non-negative integer", Chinese: "非负整数"}
	wantNumber   = phrase.Phrase{English: "a number", Chinese: "数字"}
	wantString   = phrase.Phrase{English: "a string", Chinese: "字符串"}
	wantList     = phrase.Phrase{English: "a list", Chinese: "列表"}
	wantObject   = phrase.Phrase{English: "an object", Chinese: "对象"}
	wantTime     = phrase.Phrase{English: "a time (RFC 3339)", Chinese: "时间（RFC 3339）"}
	wantTimeLike = phrase.Phrase{English: "a time such as {0}", Chinese: "时间，例如 {0}"}
	wantUnix     = phrase.Phrase{English: "a Unix time in {0}", Chinese: "以{0}为单位的 Unix 时间"}
	wantDuration = phrase.Phrase{English: "a duration such as 1m30s", Chinese: "时长，例如 1m30s"}
	wantID       = phrase.Phrase{English: "a valid id", Chinese: "有效的 ID"}
	wantBytes    = phrase.Phrase{English: "a Base64 string", Chinese: "Base64 字符串"}
	wantOther    = phrase.Phrase{English: "of the expected type", Chinese: "预期的类型"}
)

// unixUnits are the values of time_format for numbers.
var unixUnits = map[string]phrase.Phrase{
	"unix":      {English: "seconds", Chinese: "秒"},
	"unixmilli": {English: "milliseconds", Chinese: "毫秒"},
	"unixmicro": {English: "microseconds", Chinese: "微秒"},
	"unixnano":  {English: "nanoseconds", Chinese: "纳秒"},
}

var (
	idType         = reflect.TypeFor[xsnowflake.SnowflakeID]()
	jsonNumberType = reflect.TypeFor[json.Number]()
	durationType   = reflect.TypeFor[time.Duration]()
)

// localize returns the phrase in the language of the request.
func localize(ctx context.Context, p phrase.Phrase, params ...string) string {
	return p.In(xerror.Language(ctx), params...)
}

// wanted describes the valid values of a type. format is the time_format of gin.
func wanted(ctx context.Context, t reflect.Type, format string) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case nil:
		return localize(ctx, wantOther)
	case timeType:
		return wantedTime(ctx, format)
	case durationType:
		return localize(ctx, wantDuration)
	case jsonNumberType:
		return localize(ctx, wantNumber)
	case idType: // not every integer
		return localize(ctx, wantID)
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Interface:
		if jsonplan.DecodesItself(t) {
			return localize(ctx, wantOther) // the type defines its form
		}
	default:
	}
	return wantedKind(ctx, t)
}

func wantedTime(ctx context.Context, format string) string {
	if unit, ok := unixUnits[strings.ToLower(format)]; ok {
		return localize(ctx, wantUnix, localize(ctx, unit))
	}
	switch format {
	case "", time.RFC3339, time.RFC3339Nano:
		return localize(ctx, wantTime)
	default:
		return localize(ctx, wantTimeLike, format) // a Go layout is an example of itself
	}
}

var wantedKinds = map[reflect.Kind]phrase.Phrase{
	reflect.Bool:      wantBool,
	reflect.String:    wantString,
	reflect.Float32:   wantNumber,
	reflect.Float64:   wantNumber,
	reflect.Int:       wantInteger,
	reflect.Int64:     wantInteger,
	reflect.Uint:      wantPositive,
	reflect.Uint64:    wantPositive,
	reflect.Uintptr:   wantPositive,
	reflect.Slice:     wantList,
	reflect.Array:     wantList,
	reflect.Struct:    wantObject,
	reflect.Map:       wantObject,
	reflect.Interface: wantObject,
}

func wantedKind(ctx context.Context, t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32:
		limit := int64(1)<<(t.Bits()-1) - 1
		return localize(ctx, wantRange,
			strconv.FormatInt(-limit-1, 10), strconv.FormatInt(limit, 10))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return localize(ctx, wantRange, "0", strconv.FormatUint(uint64(1)<<t.Bits()-1, 10))
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return localize(ctx, wantBytes)
		}
	default:
	}
	p, ok := wantedKinds[t.Kind()]
	if !ok {
		p = wantOther
	}
	return localize(ctx, p)
}
