package xlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog/internal/outlet"
	"github.com/plinthgo/plinth/core/common/xlog/internal/rotate"
	"github.com/plinthgo/plinth/core/common/xlog/internal/terminal"
)

// sink takes whole lines of JSON from zerolog and writes each once to the console and
// once to the file.
type sink struct {
	out     io.Writer      // takes concurrent writes
	outlet  *outlet.Outlet // out, if that may block; else nil
	console bool           // out takes the form for people, not JSON
	color   bool           // of that form
	file    atomic.Pointer[rotate.File]
	failed  atomic.Bool // the last line could not be written to the file

	clock func() time.Time // of the lines about the log itself
}

func newSink(c Config) *sink {
	s := &sink{out: cmp.Or[io.Writer](c.Writer, os.Stdout), clock: c.Clock}
	f, isFile := s.out.(*os.File)
	tty := isFile && terminal.Is(f)
	s.console = c.Format == FormatConsole || c.Format == formatAuto && tty
	s.color = tty && !c.NoColor && terminal.ColorWanted()
	switch {
	case isFile && mayBlock(f):
		s.outlet = outlet.New(f, s.lostLines)
		s.out = s.outlet
	case !isFile && s.out != io.Discard:
		s.out = zerolog.SyncWriter(s.out)
	}
	return s
}

// Write implements io.Writer. It never fails: a log that cannot be written is no reason
// for zerolog to write about it elsewhere.
func (s *sink) Write(p []byte) (int, error) {
	f := s.file.Load()
	if isASCII(p) {
		s.write(p, f)
		return len(p), nil
	}
	buf := buffers.Get().(*[]byte)
	*buf = appendSafe((*buf)[:0], p)
	s.write(*buf, f)
	release(buf)
	return len(p), nil
}

// buffers hold what is made of a line on its way.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled keeps one long line from being held for ever.
const maxPooled = 1 << 16

func release(buf *[]byte) {
	if cap(*buf) <= maxPooled {
		buffers.Put(buf)
	}
}

// write takes a safe line; f is nil where it goes to the console only. An error of the
// console has no place to be reported.
func (s *sink) write(p []byte, f *rotate.File) {
	if s.console {
		buf := buffers.Get().(*[]byte)
		*buf = terminal.AppendLine((*buf)[:0], p, s.color)
		_, _ = s.out.Write(*buf)
		release(buf)
	} else {
		_, _ = s.out.Write(p)
	}
	if f != nil {
		s.writeFile(f, p)
	}
}

// mayBlock reports whether a Write may wait for a reader: that of a regular file does
// not.
func mayBlock(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && !info.Mode().IsRegular()
}

// about returns a line of JSON about the log itself, with an attribute in JSON. The level
// does not matter for that.
func (s *sink) about(msg, key string, value []byte) []byte {
	b := appendText(appendHead([]byte{'{'}, s.clock(), slog.LevelWarn, encodeName(namedLOGS)), msg)
	b = append(append(append(b, `,"`+key+`":`...), value...), "}\n"...)
	return appendSafe(nil, b)
}

// lostLines returns the line that reports dropped lines, as the console shows it.
func (s *sink) lostLines(n int64) []byte {
	line := s.about("log lines dropped, the output was blocked", "count",
		strconv.AppendInt(nil, n, 10))
	if s.console {
		line = terminal.AppendLine(nil, line, s.color)
	}
	return line
}

// warn says on the console that lines do not reach the file.
func (s *sink) warn(err error) {
	line := s.about("log file cannot be written, lines go to the console only", "error",
		appendText(nil, err.Error()))
	s.write(line, nil)
}

// writeFile reports the first failure of a row on the console.
func (s *sink) writeFile(f *rotate.File, p []byte) {
	_, err := f.Write(p)
	if failed := s.failed.Swap(err != nil); err != nil && !failed {
		s.warn(err)
	}
}

func (s *sink) close() error {
	if s.outlet != nil {
		s.outlet.Flush()
	}
	f := s.file.Swap(nil)
	if f == nil {
		return nil
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("xlog: %w", err)
	}
	return nil
}

// isASCII reports whether p holds ASCII only, 32 bytes at a step: with 8, a line takes 8
// % longer.
func isASCII(p []byte) bool {
	const high = 0x8080808080808080
	var bits uint64
	for ; len(p) >= 32; p = p[32:] {
		q := (*[32]byte)(p)
		bits |= binary.LittleEndian.Uint64(q[:8]) | binary.LittleEndian.Uint64(q[8:16]) |
			binary.LittleEndian.Uint64(q[16:24]) | binary.LittleEndian.Uint64(q[24:])
	}
	for ; len(p) >= 8; p = p[8:] {
		bits |= binary.LittleEndian.Uint64(p)
	}
	for _, b := range p {
		bits |= uint64(b)
	}
	return bits&high == 0
}

// appendSafe appends a line of JSON in which the characters beyond ASCII that act on a
// terminal or reorder text are escaped, and bytes that are no UTF-8 replaced. In JSON
// they can only stand in a string, where \u means the same. (The control characters of
// ASCII are escaped already.)
func appendSafe(dst, p []byte) []byte {
	kept := 0
	for i := 0; i < len(p); {
		if p[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(p[i:])
		if acts(r) || r == utf8.RuneError && size == 1 {
			dst = append(dst, p[kept:i]...)
			dst = fmt.Appendf(dst, `\u%04x`, r)
			kept = i + size
		}
		i += size
	}
	return append(dst, p[kept:]...)
}

// acts reports whether a character beyond ASCII does something instead of being seen: the
// C1 controls (U+009B begins an escape sequence as ESC [ does), line and paragraph
// separators, and the marks that change the direction of text (Unicode Technical Report
// 36).
func acts(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || r == 0xfeff
}
