package xlog

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// encodeName returns the member of a line that holds a logger's name, ,"name":"...", or
// "" where there is no name. It is made once for each logger.
func encodeName(name string) string {
	return string(appendMember(nil, `,"`+jsonline.KeyName+`":`, name))
}

// requestIDMember is the key of the member after the message, in the form of
// appendMember.
const requestIDMember = `,"` + jsonline.KeyRequestID + `":`

// appendHead appends what every line begins with: time, level, the encoded name and the
// key of the message. A zero time is left out, as slog asks.
func appendHead(b []byte, t time.Time, level slog.Level, name string) []byte {
	if !t.IsZero() {
		b = append(appendTime(append(b, `"`+jsonline.KeyTime+`":"`...), t), `",`...)
	}
	b = append(append(b, `"`+jsonline.KeyLevel+`":"`...), levelText(level)...)
	return append(append(append(b, '"'), name...), `,"`+jsonline.KeyMsg+`":`...)
}

// shortHead is how long name, message and id together may be for a head in roomHead
// bytes. Beside them there are 70 others, and the escape of a quote or a line break is
// twice as long.
const (
	shortHead = 120
	roomHead  = 70 + 2*shortHead
)

// begin appends the head of a line. It goes to zerolog as one piece of JSON, the value of
// the first key with the others behind it: zerolog looks at each byte of a text by
// itself. A short head is made on the stack, which takes 5 % less of the time of a line
// than a buffer of the pool.
func (ln *line) begin(id string, t time.Time, level slog.Level, name, msg string) {
	key := jsonline.KeyTime
	ln.own = ownKeys{time: !t.IsZero(), levelAndMsg: true, name: name != "", id: id != ""}
	if t.IsZero() {
		key = jsonline.KeyLevel
	}
	first := len(key) + len(`"":`)
	if len(name)+len(msg)+len(id) <= shortHead {
		var room [roomHead]byte
		b := appendText(appendHead(room[:0], t, level, name), msg)
		ln.event.RawJSON(key, appendMember(b, requestIDMember, id)[first:])
		return
	}
	buf := buffers.Get().(*[]byte)
	*buf = appendText(appendHead((*buf)[:0], t, level, name), msg)
	*buf = appendMember(*buf, requestIDMember, id)
	ln.event.RawJSON(key, (*buf)[first:])
	release(buf)
}

// second is the text of a second, up to its Z.
type second struct {
	unix int64
	text [len("2006-01-02T15:04:05")]byte
}

// lastSecond is the second of the latest line: a busy service writes thousands of lines
// in one.
var lastSecond atomic.Pointer[second]

const decimals = "0123456789"

// appendTime writes t as RFC 3339 in UTC with milliseconds.
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
