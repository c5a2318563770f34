package xlog

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
	"github.com/plinthgo/plinth/core/common/xlog/internal/masking"
)

// renamePrefix is the prefix for the key of an attribute that repeats a key of the line.
// Most JSON decoders use the last of two equal keys.
const renamePrefix = "attr_"

// line is one JSON object under construction: a whole line, or a group inside a line.
type line struct {
	event *zerolog.Event
	mask  *masking.Set
	any   bool // an attribute was added
	own   ownKeys
}

// ownKeys records which keys of jsonline.Head a line contains. A group contains none of
// these keys.
type ownKeys struct{ time, levelAndMsg, name, id bool }

func (ln *line) addAll(attrs []slog.Attr) {
	for i := range attrs {
		ln.add(&attrs[i])
	}
}

// add adds an attribute by the rules of slog.Handler: it resolves values, omits an empty
// attribute or group, and inlines a group without a key.
func (ln *line) add(a *slog.Attr) {
	v, kind := &a.Value, a.Value.Kind()
	if kind == slog.KindLogValuer {
		resolved := v.Resolve() // Resolve returns a panic of LogValue as an error
		v, kind = &resolved, resolved.Kind()
	}
	switch {
	case kind == slog.KindGroup:
		ln.addGroup(a.Key, v.Group())
		return
	case a.Key == "" && v.Equal(slog.Value{}):
		return
	case ln.mask.Has(a.Key):
		ln.event.Str(ln.key(a.Key), masking.Masked)
	default:
		ln.addValue(ln.key(a.Key), kind, v)
	}
	ln.any = true
}

func (ln *line) addValue(key string, kind slog.Kind, v *slog.Value) {
	switch kind {
	case slog.KindString:
		ln.event.Str(key, v.String())
	case slog.KindInt64:
		ln.event.Int64(key, v.Int64())
	case slog.KindUint64:
		ln.event.Uint64(key, v.Uint64())
	case slog.KindFloat64:
		ln.event.Float64(key, v.Float64())
	case slog.KindBool:
		ln.event.Bool(key, v.Bool())
	case slog.KindDuration:
		var buf [32]byte
		ln.event.RawJSON(key, appendMillis(buf[:0], v.Duration()))
	case slog.KindTime:
		var buf [48]byte
		ln.event.Bytes(key, v.Time().AppendFormat(buf[:0], time.RFC3339Nano))
	case slog.KindAny, slog.KindGroup, slog.KindLogValuer:
		ln.addAny(key, v.Any())
	}
}

func (ln *line) addGroup(key string, attrs []slog.Attr) {
	if key == "" {
		ln.addAll(attrs)
		return
	}
	group := ln.open()
	group.addAll(attrs)
	ln.close(key, group)
}

// open starts a group. The caller must call close.
func (ln *line) open() line {
	return line{event: ln.event.CreateDict(), mask: ln.mask}
}

// close adds a group under key. It masks the group if key is a masked key, and omits an
// empty group.
func (ln *line) close(key string, group line) {
	if group.any && !ln.mask.Has(key) {
		ln.event.Dict(ln.key(key), group.event)
		ln.any = true
		return
	}
	group.event.Send() // without a writer, Send only returns the event to the pool of zerolog
	if group.any {
		ln.event.Str(ln.key(key), masking.Masked)
		ln.any = true
	}
}

// key returns key, with renamePrefix if it repeats a key of the line.
func (ln *line) key(key string) string {
	repeated := false
	switch key {
	case jsonline.KeyTime:
		repeated = ln.own.time
	case jsonline.KeyLevel, jsonline.KeyMsg:
		repeated = ln.own.levelAndMsg
	case jsonline.KeyName:
		repeated = ln.own.name
	case jsonline.KeyRequestID:
		repeated = ln.own.id
	}
	if repeated {
		return renamePrefix + key
	}
	return key
}

// appendMillis appends d in milliseconds with as many decimals as necessary, such as
// 12.345. It uses integers, so it does not round.
func appendMillis(dst []byte, d time.Duration) []byte {
	ns := uint64(d) // the sign is written separately
	if d < 0 {
		ns = -ns
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, ns/1e6, 10)
	if rest := ns % 1e6; rest != 0 {
		point := len(dst)
		// six digits after a 1, which becomes the decimal point
		dst = strconv.AppendUint(dst, rest+1e6, 10)
		dst[point] = '.'
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}

// addAny adds a value of slog.KindAny. If the value cannot be encoded, its key contains
// the reason, and the other attributes are written.
func (ln *line) addAny(key string, v any) {
	switch v := v.(type) {
	case nil:
		ln.event.RawJSON(key, []byte("null"))
	case error:
		ln.event.Str(key, masking.ErrorText(v))
	default:
		text, err := ln.mask.Encode(v)
		if err != nil {
			ln.event.Str(key, "!ERROR: "+err.Error())
			return
		}
		ln.event.RawJSON(key, text)
	}
}
