package runner_test

import (
	"bytes"
	"context"
	"net"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	attackMessage = 4 << 20 // announced size of each message
	attackMissing = 1 << 10 // bytes at the end that never arrive
	attackFrame   = 16 << 10
)

// attacker is an HTTP/2 connection whose calls never complete their messages. It respects
// flow control and the limit of concurrent streams, so the server has no reason to close
// the connection.
type attacker struct {
	conn   net.Conn
	framer *http2.Framer
	method string

	mu        sync.Mutex
	changed   *sync.Cond
	remaining map[uint32]int // bytes to send per open stream
	window    map[uint32]int // per open stream; stream 0 is the connection
	initial   int            // window of a new stream
	streams   int            // limit of open streams
	next      uint32         // ID of the next stream
	calls     int            // number of calls to open
	closed    bool
}

// testMethod returns the path of a method of the test service.
func testMethod(name string) string { return "/" + serviceName + "/" + name }

// attack opens a connection and makes calls of a method until ctx is canceled. wait
// waits for its goroutines.
func attack(ctx context.Context, address, method string, calls int) (wait func(), err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return attackOver(ctx, conn, method, calls)
}

// attackOver is like attack, over an open connection.
func attackOver(
	ctx context.Context, conn net.Conn, method string, calls int,
) (wait func(), err error) {
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	a := &attacker{
		conn: conn, framer: http2.NewFramer(conn, conn), method: method,
		calls: calls, streams: calls, next: 1, remaining: map[uint32]int{},
		window: map[uint32]int{0: 65535}, initial: 65535,
	}
	a.changed = sync.NewCond(&a.mu)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		return nil, err
	}
	if err := a.framer.WriteSettings(); err != nil {
		return nil, err
	}
	configured := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { a.read(configured) })
	done.Go(func() {
		<-configured
		a.write()
	})
	return done.Wait, nil
}

// read handles the frames of the server. It closes configured after the settings.
func (a *attacker) read(configured chan struct{}) {
	defer func() {
		a.mu.Lock()
		a.closed = true
		a.changed.Broadcast()
		a.mu.Unlock()
	}()
	configure := sync.OnceFunc(func() { close(configured) })
	defer configure()
	for {
		frame, err := a.framer.ReadFrame()
		if err != nil {
			return
		}
		a.mu.Lock()
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				a.settings(f)
				configure()
			}
		case *http2.WindowUpdateFrame:
			if _, open := a.window[f.StreamID]; open {
				a.window[f.StreamID] += int(f.Increment)
			}
		case *http2.RSTStreamFrame:
			a.end(f.StreamID)
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				a.end(f.StreamID)
			}
		}
		a.changed.Broadcast()
		a.mu.Unlock()
	}
}

func (a *attacker) settings(f *http2.SettingsFrame) {
	if n, ok := f.Value(http2.SettingMaxConcurrentStreams); ok {
		a.streams = int(n)
	}
	if n, ok := f.Value(http2.SettingInitialWindowSize); ok {
		for id := range a.remaining {
			a.window[id] += int(n) - a.initial
		}
		a.initial = int(n)
	}
}

func (a *attacker) end(id uint32) {
	delete(a.remaining, id)
	delete(a.window, id)
}

// write opens calls and sends data for all of them, as far as the windows allow.
func (a *attacker) write() {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	data := make([]byte, attackFrame)
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.closed {
		for a.calls > 0 && len(a.remaining) < a.streams {
			block.Reset()
			for _, field := range [][2]string{
				{":method", "POST"},
				{":scheme", "http"},
				{":path", a.method},
				{":authority", "attack"},
				{"content-type", "application/grpc"},
				{"te", "trailers"},
			} {
				_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
			}
			id := a.next
			a.next += 2
			a.calls--
			a.remaining[id], a.window[id] = attackMessage-attackMissing, a.initial
			a.window[0] -= 5
			a.window[id] -= 5
			a.unlocked(func() {
				_ = a.framer.WriteHeaders(http2.HeadersFrameParam{
					StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true,
				})
				_ = a.framer.WriteData(id, false, []byte{
					0,
					attackMessage >> 24, attackMessage >> 16 & 0xff, attackMessage >> 8 & 0xff, 0,
				})
			})
		}
		id, n := a.ready()
		if n == 0 {
			a.changed.Wait()
			continue
		}
		a.remaining[id] -= n
		a.window[id] -= n
		a.window[0] -= n
		a.unlocked(func() { _ = a.framer.WriteData(id, false, data[:n]) })
	}
}

// ready returns a call that may send, and the number of bytes that it may send.
func (a *attacker) ready() (id uint32, n int) {
	for id, remaining := range a.remaining {
		if n = min(remaining, a.window[id], a.window[0], attackFrame); n > 0 {
			return id, n
		}
	}
	return 0, 0
}

// unlocked calls write without the lock.
func (a *attacker) unlocked(write func()) {
	a.mu.Unlock()
	defer a.mu.Lock()
	write()
}
