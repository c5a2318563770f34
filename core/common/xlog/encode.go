package xlog

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
	"github.com/plinthgo/plinth/core/common/xlog/internal/masking"
)

// renamed is put before an attribute's key that the line has already: it would be a
// second one, and most readers of JSON believe the last.
const renamed = "attr_"

// line is one JSON object under construction: a whole line, or a group inside one.
type line struct {
	event *zerolog.Event
	mask  *masking.Set
	any   bool // something was added
	own   ownKeys
}

// ownKeys says which of jsonline.Head a line has; a group has none.
type ownKeys struct{ time, levelAndMsg, name, id bool }

// addAll appends attributes.
func (ln *line) addAll(attrs []slog.Attr) {
	for i := range attrs {
		ln.add(&attrs[i])
	}
}

// add appends an attribute. It follows the rules of slog.Handler: values are resolved, an
// empty attribute or group is left out, and a group without a key is opened up.
func (ln *line) add(a *slog.Attr) {
	v, kind := &a.Value, a.Value.Kind()
	if kind == slog.KindLogValuer {
		resolved := v.Resolve() // a panic in LogValue is an error there
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

// open starts a group; close must follow.
func (ln *line) open() line {
	return line{event: ln.event.CreateDict(), mask: ln.mask}
}

// close adds a group under key, masked if the key is, or leaves it out where nothing was
// added to it.
func (ln *line) close(key string, group line) {
	if group.any && !ln.mask.Has(key) {
		ln.event.Dict(ln.key(key), group.event)
		ln.any = true
		return
	}
	group.event.Send() // it has no writer: this returns it to zerolog's pool
	if group.any {
		ln.event.Str(ln.key(key), masking.Masked)
		ln.any = true
	}
}

// key returns the key under which an attribute is written.
func (ln *line) key(key string) string {
	taken := false
	switch key {
	case jsonline.KeyTime:
		taken = ln.own.time
	case jsonline.KeyLevel, jsonline.KeyMsg:
		taken = ln.own.levelAndMsg
	case jsonline.KeyName:
		taken = ln.own.name
	case jsonline.KeyRequestID:
		taken = ln.own.id
	}
	if taken {
		return renamed + key
	}
	return key
}

// appendMillis appends milliseconds with as many places as they have, such as 12.345:
// people and machines both read that. The digits are those of the integer, so nothing is
// rounded.
func appendMillis(dst []byte, d time.Duration) []byte {
	ns := uint64(d) // the sign is written apart
	if d < 0 {
		ns = -ns
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, ns/1e6, 10)
	if rest := ns % 1e6; rest != 0 {
		point := len(dst)
		// six places behind a 1, which becomes the point
		dst = strconv.AppendUint(dst, rest+1e6, 10)
		dst[point] = '.'
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}

// addAny appends a value that slog has no kind for. Whatever it does, the line and its
// other attributes stay: what cannot be encoded leaves its reason under the key.
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
