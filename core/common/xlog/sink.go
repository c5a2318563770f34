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

// sink receives complete JSON lines from zerolog and writes each once to the console and
// once to the file.
type sink struct {
	out        io.Writer      // safe for concurrent writes
	outlet     *outlet.Outlet // equals out if out may block, otherwise nil
	console    bool           // format out as FormatConsole
	color      bool           // with colors
	file       atomic.Pointer[rotate.File]
	fileFailed atomic.Bool // the last write to the file failed

	clock func() time.Time // time of lines about the log itself
}

func newSink(c Config) *sink {
	s := &sink{out: cmp.Or[io.Writer](c.Writer, os.Stdout), clock: c.Clock}
	f, isFile := s.out.(*os.File)
	tty := isFile && terminal.IsTerminal(f)
	s.console = c.Format == FormatConsole || c.Format == formatAuto && tty
	s.color = tty && !c.NoColor && terminal.ColorEnabled()
	switch {
	case isFile && mayBlock(f):
		s.outlet = outlet.New(f, s.droppedLine)
		s.out = s.outlet
	case !isFile && s.out != io.Discard:
		s.out = zerolog.SyncWriter(s.out)
	}
	return s
}

// Write implements io.Writer. It always succeeds, so that zerolog does not report write
// errors elsewhere.
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

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled limits the buffers in the pool, so that one long line does not retain its
// memory.
const maxPooled = 1 << 16

func release(buf *[]byte) {
	if cap(*buf) <= maxPooled {
		buffers.Put(buf)
	}
}

// write writes a line that appendSafe or isASCII checked. f is nil for lines that go to
// the console only. Errors of the console are ignored: no other output could report them.
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

// mayBlock reports whether a Write to f may wait for a reader. Regular files do not
// block.
func mayBlock(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && !info.Mode().IsRegular()
}

// internalLine returns a JSON line about the log itself with one encoded attribute. It
// ignores the configured level.
func (s *sink) internalLine(msg, key string, value []byte) []byte {
	b := appendText(appendHead([]byte{'{'}, s.clock(), slog.LevelWarn, encodeName(namedLOGS)), msg)
	b = append(append(append(b, `,"`+key+`":`...), value...), "}\n"...)
	return appendSafe(nil, b)
}

// droppedLine returns the line that reports n dropped lines, in the format of the
// console.
func (s *sink) droppedLine(n int64) []byte {
	line := s.internalLine("log lines dropped: output blocked", "count",
		strconv.AppendInt(nil, n, 10))
	if s.console {
		line = terminal.AppendLine(nil, line, s.color)
	}
	return line
}

// warn reports on the console that lines are not written to the file.
func (s *sink) warn(err error) {
	line := s.internalLine("log file not writable: using the console only", "error",
		appendText(nil, err.Error()))
	s.write(line, nil)
}

// writeFile writes a line to the file. It reports only the first of consecutive failures
// on the console.
func (s *sink) writeFile(f *rotate.File, p []byte) {
	_, err := f.Write(p)
	if failed := s.fileFailed.Swap(err != nil); err != nil && !failed {
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

// isASCII reports whether p contains only ASCII. It checks 32 bytes per step; with 8
// bytes, writing a line is 8 % slower.
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

// appendSafe appends a JSON line and escapes characters outside ASCII that control a
// terminal or reorder text. It replaces invalid UTF-8. Such characters occur only in JSON
// strings, so \u escapes are equivalent. ASCII control characters are already escaped.
func appendSafe(dst, p []byte) []byte {
	copied := 0 // bytes of p that are copied to dst
	for i := 0; i < len(p); {
		if p[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(p[i:])
		if needsEscape(r) || r == utf8.RuneError && size == 1 {
			dst = append(dst, p[copied:i]...)
			dst = fmt.Appendf(dst, `\u%04x`, r)
			copied = i + size
		}
		i += size
	}
	return append(dst, p[copied:]...)
}

// needsEscape reports whether a character outside ASCII is invisible or controls output:
// C1 controls (U+009B starts an escape sequence like ESC [), line and paragraph
// separators, and bidirectional controls (Unicode Technical Report 36).
func needsEscape(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || r == 0xfeff
}
