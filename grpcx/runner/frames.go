package runner

import (
	"encoding/binary"
	"net"
)

// HTTP/2 constants for the bytes that a client sends (RFC 9113, sections 3.4, 4.1 and 6).
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

// frames parses the HTTP/2 frames that a client sends (RFC 9113) and counts the bytes of
// each stream's incomplete message. grpc-go handles protocol errors.
type frames struct {
	source   *source
	notHTTP2 bool // the connection does not start with the HTTP/2 preface

	prefaceBytes int // bytes of the client preface passed so far
	head         [frameHeaderBytes]byte
	filled       int   // valid bytes of head
	remaining    int   // unread bytes of the frame's payload
	body         int   // message bytes among them; -1 until the length of the padding is read
	cost         int64 // overhead of the frame, until it is charged

	header header // being read

	// Bytes read from the connection. Those from offset have not been passed to grpc-go.
	buffered []byte
	offset   int
	err      error // of the last read
}

// header is the header of a stream.
type header struct {
	id   uint32
	last bool // END_STREAM: no data follows
}

// read reads from conn. It stops after each header, so grpc-go handles the header before
// it reads further.
func (f *frames) read(conn net.Conn, b []byte) (n int, err error) {
	if f.offset == len(f.buffered) {
		n, err = conn.Read(b)
		passed := f.pass(b[:n])
		if passed == n {
			return n, err
		}
		f.buffered, f.offset, f.err = append(f.buffered[:0], b[passed:n]...), 0, err
		return passed, nil
	}
	n = f.pass(b[:copy(b, f.buffered[f.offset:])])
	f.offset += n
	if f.offset == len(f.buffered) {
		err, f.err = f.err, nil
	}
	return n, err
}

// pass parses b and returns the number of bytes that grpc-go may read now.
func (f *frames) pass(b []byte) (n int) {
	if f.notHTTP2 {
		return len(b)
	}
	f.source.mu.Lock()
	defer f.source.mu.Unlock()
	defer f.source.charge()
	for n < len(b) {
		if f.prefaceBytes < len(clientPreface) {
			if b[n] != clientPreface[f.prefaceBytes] {
				f.notHTTP2 = true
				return len(b)
			}
			n++
			f.prefaceBytes++
			continue
		}
		var (
			used int
			stop bool
		)
		if f.filled < frameHeaderBytes {
			used, stop = f.readHeader(b[n:])
		} else {
			used, stop = f.readPayload(b[n:])
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

// readHeader reads a frame header.
func (f *frames) readHeader(b []byte) (used int, stop bool) {
	used = copy(f.head[f.filled:], b)
	f.filled += used
	if f.filled < frameHeaderBytes {
		return used, false
	}
	f.remaining = int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
	f.body, f.cost = f.remaining, overhead(f.remaining)
	if f.has(flagPadded) {
		f.body = -1
	}
	return used, f.remaining == 0 && f.endFrame()
}

// readPayload reads a frame payload.
func (f *frames) readPayload(b []byte) (used int, stop bool) {
	used = min(len(b), f.remaining)
	if f.kind() == frameData {
		f.data(b[:used])
	}
	f.remaining -= used
	return used, f.remaining == 0 && f.endFrame()
}

// data counts the bytes of a DATA frame without its padding.
func (f *frames) data(b []byte) {
	if f.body < 0 {
		f.body = max(0, f.remaining-1-int(b[0]))
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

// endFrame handles the end of a frame and reports whether grpc-go must handle a header
// now.
func (f *frames) endFrame() (stop bool) {
	f.filled = 0
	switch f.kind() {
	case frameData:
		if f.has(flagEndStream) {
			f.source.remove(f.stream())
		}
	case frameRSTStream:
		f.source.remove(f.stream())
	case frameHeaders:
		f.header = header{id: f.stream(), last: f.has(flagEndStream)}
		return f.endHeaders()
	case frameContinuation:
		return f.endHeaders()
	}
	return false
}

// endHeaders handles the end of a HEADERS or CONTINUATION frame.
func (f *frames) endHeaders() (stop bool) {
	if !f.has(flagEndHeaders) {
		return false
	}
	if f.header.last {
		f.source.remove(f.header.id) // trailers
	}
	f.source.header = f.header
	return true
}
