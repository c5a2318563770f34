package xlog

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// encodeName returns the member of a line that holds a logger's name, ,"name":"...", or "" where there
// is no name. It is made once for each logger.
func encodeName(name string) string {
	if name == "" {
		return ""
	}
	text, _ := encodeJSON(name, nil) // a string always encodes
	return `,"` + keyName + `":` + string(text)
}

// shortHead is how long name, message and id together may be to stand in roomHead bytes: beside them there
// are 70 others, and an escape of a quote or a line break is twice as long.
const (
	shortHead = 120
	roomHead  = 70 + 2*shortHead
)

// begin appends the keys that every line has: time, level, the encoded name, message and request id. A
// zero time is left out, as slog asks. Where they are short they go to zerolog as one piece of JSON, the
// value of the first key with the others behind it: zerolog looks at each byte of a text by itself.
func (ln *line) begin(id string, t time.Time, level slog.Level, name, msg string) {
	var room [roomHead]byte
	buf, key := room[:0], keyLevel
	ln.used |= usedLevel | usedMsg
	if !t.IsZero() {
		key = keyTime
		buf = append(appendTime(append(buf, '"'), t), `","`+keyLevel+`":`...)
		ln.used |= usedTime
	}
	buf = append(append(append(buf, '"'), levelText(level)...), '"')
	if name != "" {
		buf = append(buf, name...)
		ln.used |= usedName
	}
	if id != "" {
		ln.used |= usedRequestID
	}
	if len(name)+len(msg)+len(id) <= shortHead {
		buf = appendText(append(buf, `,"`+keyMsg+`":`...), msg)
		ln.event.RawJSON(key, appendMember(buf, `,"`+keyRequestID+`":`, id))
		return
	}
	ln.event.RawJSON(key, buf).Str(keyMsg, msg)
	if id != "" {
		ln.event.Str(keyRequestID, id)
	}
}

// second is the text of a second, up to its Z.
type second struct {
	unix int64
	text [len("2006-01-02T15:04:05")]byte
}

// lastSecond is the second of the latest line: a busy service writes thousands of lines in one.
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
