package runner

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2"
)

// chunkConn is a connection that returns data in chunks.
type chunkConn struct {
	net.Conn
	data []byte
	size int
}

func (c *chunkConn) Read(b []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), c.size)], c.data)
	c.data = c.data[n:]
	return n, nil
}

// clientBytes returns the bytes that a client sends.
func clientBytes(tb testing.TB, write func(f *http2.Framer) error) []byte {
	tb.Helper()
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	if err := write(http2.NewFramer(&b, nil)); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// consume reads data in chunks, adds a call after each header, and returns the source.
func consume(tb testing.TB, data []byte, chunk, buffer int) *source {
	tb.Helper()
	s := newSource(&limiter{})
	s.parsed.Store(true)
	f, conn, b := frames{source: s}, &chunkConn{data: data, size: chunk}, make([]byte, buffer)
	var got []byte
	for seen := (header{}); ; {
		n, err := f.read(conn, b)
		got = append(got, b[:n]...)
		if s.header != seen {
			if seen = s.header; !seen.last {
				s.add(context.Background())
			}
		}
		if err != nil {
			break
		}
	}
	if !bytes.Equal(got, data) {
		tb.Fatalf("bytes passed = %d, want %d unchanged ones", len(got), len(data))
	}
	return s
}

func TestFrames_read(t *testing.T) {
	headers := func(f *http2.Framer, id uint32, last bool) error {
		return f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: id, BlockFragment: []byte{0x83}, EndHeaders: true, EndStream: last,
		})
	}
	message := append([]byte{0, 0, 0, 0, 100}, make([]byte, 100)...)
	for _, tc := range []struct {
		name  string
		write func(f *http2.Framer) error
		want  map[uint32]int64 // message cost per stream without callCost
	}{
		{
			name:  "no message",
			write: func(f *http2.Framer) error { return headers(f, 1, false) },
			want:  map[uint32]int64{1: 0},
		},
		{
			name:  "no body",
			write: func(f *http2.Framer) error { return headers(f, 1, true) },
			want:  map[uint32]int64{},
		},
		{
			name: "complete message",
			write: func(f *http2.Framer) error {
				_ = headers(f, 1, false)
				return f.WriteData(1, false, message)
			},
			want: map[uint32]int64{1: 0},
		},
		{
			name: "last message",
			write: func(f *http2.Framer) error {
				_ = headers(f, 1, false)
				return f.WriteData(1, true, message)
			},
			want: map[uint32]int64{},
		},
		{
			name: "unfinished messages",
			write: func(f *http2.Framer) error {
				_ = f.WriteSettings()
				_ = headers(f, 1, false)
				_ = headers(f, 3, false)
				_ = f.WriteData(3, false, message[:50])
				return f.WriteData(1, false, append(bytes.Clone(message), message[:10]...))
			},
			want: map[uint32]int64{1: 10, 3: 50 + frameCost},
		},
		{
			name: "padding and continuation",
			write: func(f *http2.Framer) error {
				_ = f.WriteHeaders(http2.HeadersFrameParam{
					StreamID: 1, BlockFragment: []byte{0x83},
				})
				_ = f.WriteContinuation(1, true, []byte{0x86})
				_ = f.WriteDataPadded(1, false, message[:3], make([]byte, 200))
				return f.WriteDataPadded(1, false, message[3:60], nil)
			},
			want: map[uint32]int64{1: 60 + 2*frameCost},
		},
		{
			name: "canceled call",
			write: func(f *http2.Framer) error {
				_ = headers(f, 1, false)
				_ = f.WriteData(1, false, message[:50])
				return f.WriteRSTStream(1, http2.ErrCodeCancel)
			},
			want: map[uint32]int64{},
		},
		{
			name: "frames of a byte",
			write: func(f *http2.Framer) error {
				_ = headers(f, 1, false)
				for _, b := range message[:9] {
					_ = f.WriteData(1, false, []byte{b})
				}
				return nil
			},
			want: map[uint32]int64{1: 9 * (1 + frameCost)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data := clientBytes(t, tc.write)
			for _, chunk := range []int{1, 2, 7, 100, 1 << 15} {
				for _, buffer := range []int{1, 9, 1 << 15} {
					s := consume(t, data, chunk, buffer)
					var sum int64
					for id, want := range tc.want {
						if want > 0 {
							want += callCost
						}
						if c := s.streams[id]; c == nil || c.stored != want {
							t.Errorf("chunks of %d: stream %d = %+v, want %d", chunk, id, c, want)
						}
						sum += want
					}
					if len(s.streams) != len(tc.want) || s.stored != sum {
						t.Errorf("chunks of %d: %d streams with %d bytes, want %d with %d",
							chunk, len(s.streams), s.stored, len(tc.want), sum)
					}
				}
			}
		})
	}
}

func FuzzFrames_read(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x01\x04\x00\x00\x00\x01\x83"+ // HEADERS
		"\x00\x00\x03\x00\x08\x00\x00\x00\x01\xff\x00\x00"), uint8(3), true) // padded DATA
	f.Add([]byte("\x16\x03\x01"), uint8(1), false)
	f.Fuzz(func(t *testing.T, data []byte, size uint8, opening bool) {
		if opening {
			data = append([]byte(http2.ClientPreface), data...)
		}
		s := consume(t, data, int(size)+1, 64)
		var sum int64
		for _, c := range s.streams {
			sum += c.stored
		}
		if s.stored != sum || sum < 0 {
			t.Errorf("charge = %d, want the sum %d of the streams", s.stored, sum)
		}
	})
}
