package xlog

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// encodeName returns the member ,"name":"..." of a line, or "" if name is empty. Each
// logger encodes its name once.
func encodeName(name string) string {
	return string(appendMember(nil, `,"`+jsonline.KeyName+`":`, name))
}

// requestIDMember is the key of the member after the message, in the form that
// appendMember accepts.
const requestIDMember = `,"` + jsonline.KeyRequestID + `":`

// appendHead appends the first members of a line: time, level, the encoded name and the
// key of the message. A zero time is omitted, as slog.Handler requires.
func appendHead(b []byte, t time.Time, level slog.Level, name string) []byte {
	if !t.IsZero() {
		b = append(appendTime(append(b, `"`+jsonline.KeyTime+`":"`...), t), `",`...)
	}
	b = append(append(b, `"`+jsonline.KeyLevel+`":"`...), levelText(level)...)
	return append(append(append(b, '"'), name...), `,"`+jsonline.KeyMsg+`":`...)
}

// shortHead is the maximum total length of name, message and request ID for a head that
// is built on the stack. headBuffer is the size of the buffer on the stack: the other
// parts of the head need 70 bytes, and escaping doubles the length of a quote or a line
// break.
const (
	shortHead  = 120
	headBuffer = 70 + 2*shortHead
)

// addHead adds the head of a line. zerolog checks every byte of a string separately.
// Therefore addHead passes the whole head as one piece of JSON: the value of the first
// key, followed by the other members. Building a short head on the stack makes a line 5 %
// faster than a pooled buffer.
func (ln *line) addHead(id string, t time.Time, level slog.Level, name, msg string) {
	key := jsonline.KeyTime
	ln.own = ownKeys{time: !t.IsZero(), levelAndMsg: true, name: name != "", id: id != ""}
	if t.IsZero() {
		key = jsonline.KeyLevel
	}
	first := len(key) + len(`"":`)
	if len(name)+len(msg)+len(id) <= shortHead {
		var stack [headBuffer]byte
		b := appendText(appendHead(stack[:0], t, level, name), msg)
		ln.event.RawJSON(key, appendMember(b, requestIDMember, id)[first:])
		return
	}
	buf := buffers.Get().(*[]byte)
	*buf = appendText(appendHead((*buf)[:0], t, level, name), msg)
	*buf = appendMember(*buf, requestIDMember, id)
	ln.event.RawJSON(key, (*buf)[first:])
	release(buf)
}

// second is a formatted second, without the final Z.
type second struct {
	unix int64
	text [len("2006-01-02T15:04:05")]byte
}

// lastSecond caches the second of the latest line: a busy service writes thousands of
// lines per second.
var lastSecond atomic.Pointer[second]

const decimals = "0123456789"

func appendTime(dst []byte, t time.Time) []byte {
	unix := t.Unix()
	s := lastSecond.Load()
	if s == nil || s.unix != unix {
		text := t.UTC().AppendFormat(make([]byte, 0, 32), time.RFC3339)
		if len(text) != len(s.text)+1 { // a year beyond 9999
			return append(dst, text...)
		}
		s = &second{unix: unix}
		copy(s.text[:], text)
		lastSecond.Store(s)
	}
	ms := t.Nanosecond() / int(time.Millisecond)
	dst = append(dst, s.text[:]...)
	return append(dst, '.', decimals[ms/100], decimals[ms/10%10], decimals[ms%10], 'Z')
}
