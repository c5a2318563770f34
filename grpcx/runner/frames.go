package runner

import (
	"encoding/binary"
	"net"
)

// What a client sends (RFC 9113, sections 3.4, 4.1 and 6).
const (
	clientPreface    = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeaderBytes = 9

	frameData         = 0
	frameHeaders      = 1
	frameRSTStream    = 3
	frameContinuation = 9

	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
)

// frames follows the HTTP/2 frames that a client sends over a connection (RFC 9113), and
// counts the bytes of each stream's unfinished message. It leaves errors in them to
// grpc-go.
type frames struct {
	source *source
	blind  bool // the connection does not start as HTTP/2 does

	opening int // bytes of the client preface that have passed
	head    [frameHeaderBytes]byte
	filled  int // bytes of head
	left    int // bytes of the frame after head
	body    int // those of them that belong to messages, -1 before the length of the padding
	cost    int64

	header header // being read

	// What was read from the connection and has not passed.
	held []byte
	at   int
	err  error // of the read
}

// header is that of a stream.
type header struct {
	id   uint32
	last bool // the client sends nothing after it
}

// read reads from conn. It stops after each header, so that grpc-go handles the header
// before it reads more.
func (f *frames) read(conn net.Conn, b []byte) (n int, err error) {
	if f.at == len(f.held) {
		n, err = conn.Read(b)
		passed := f.pass(b[:n])
		if passed == n {
			return n, err
		}
		f.held, f.at, f.err = append(f.held[:0], b[passed:n]...), 0, err
		return passed, nil
	}
	n = f.pass(b[:copy(b, f.held[f.at:])])
	f.at += n
	if f.at == len(f.held) {
		err, f.err = f.err, nil
	}
	return n, err
}

// pass returns how many bytes of b grpc-go may read now, and counts them.
func (f *frames) pass(b []byte) (n int) {
	if f.blind {
		return len(b)
	}
	f.source.mu.Lock()
	defer f.source.mu.Unlock()
	defer f.source.charge()
	for n < len(b) {
		if f.opening < len(clientPreface) {
			if b[n] != clientPreface[f.opening] {
				f.blind = true
				return len(b)
			}
			n++
			f.opening++
			continue
		}
		var (
			used int
			stop bool
		)
		if f.filled < frameHeaderBytes {
			used, stop = f.heading(b[n:])
		} else {
			used, stop = f.payload(b[n:])
		}
		n += used
		if stop {
			break
		}
	}
	return n
}

func (f *frames) kind() byte { return f.head[3] }

func (f *frames) has(flag byte) bool { return f.head[4]&flag != 0 }

func (f *frames) stream() uint32 { return binary.BigEndian.Uint32(f.head[5:]) & (1<<31 - 1) }

// heading reads the header of a frame.
func (f *frames) heading(b []byte) (used int, stop bool) {
	used = copy(f.head[f.filled:], b)
	f.filled += used
	if f.filled < frameHeaderBytes {
		return used, false
	}
	f.left = int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
	f.body, f.cost = f.left, overhead(f.left)
	if f.has(flagPadded) {
		f.body = -1
	}
	return used, f.left == 0 && f.complete()
}

// payload reads the rest of a frame.
func (f *frames) payload(b []byte) (used int, stop bool) {
	used = min(len(b), f.left)
	if f.kind() == frameData {
		f.data(b[:used])
	}
	f.left -= used
	return used, f.left == 0 && f.complete()
}

// data counts the bytes of a DATA frame, without its padding.
func (f *frames) data(b []byte) {
	if f.body < 0 {
		f.body = max(0, f.left-1-int(b[0]))
		b = b[1:]
	}
	b = b[:min(len(b), f.body)]
	if len(b) == 0 {
		return
	}
	f.body -= len(b)
	f.source.data(f.stream(), b, f.cost)
	f.cost = 0
}

// complete handles the end of a frame, and returns whether grpc-go handles a header now.
func (f *frames) complete() (stop bool) {
	f.filled = 0
	switch f.kind() {
	case frameData:
		if f.has(flagEndStream) {
			f.source.forget(f.stream())
		}
	case frameRSTStream:
		f.source.forget(f.stream())
	case frameHeaders:
		f.header = header{id: f.stream(), last: f.has(flagEndStream)}
		return f.headed()
	case frameContinuation:
		return f.headed()
	}
	return false
}

// headed handles a frame of a header.
func (f *frames) headed() (stop bool) {
	if !f.has(flagEndHeaders) {
		return false
	}
	if f.header.last {
		f.source.forget(f.header.id) // of a header after messages
	}
	f.source.header = f.header
	return true
}
