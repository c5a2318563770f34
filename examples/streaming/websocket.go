package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"
)

const (
	maxMessage   = 4 << 10 // bytes of a message from a client
	queueSize    = 64      // messages to a client that are not sent yet
	pingInterval = 30 * time.Second
	writeTimeout = 10 * time.Second
)

var errSlow = errors.New("the client does not read its messages")

// room sends each message to all members.
type room struct {
	mu      sync.Mutex
	members map[*member]struct{}
}

// member is the connection of one client.
type member struct {
	conn     *websocket.Conn
	messages chan []byte
	cancel   context.CancelCauseFunc // closes the connection
}

func newRoom() *room { return &room{members: map[*member]struct{}{}} }

// serve connects a client. Middleware before it authenticates the client: browsers send
// cookies, but cannot set a header.
func (r *room) serve(c *gin.Context) {
	conn, err := websocket.Accept(c.Writer, c.Request, &websocket.AcceptOptions{
		OriginPatterns: nil, // pages of other hosts are rejected
	})
	if err != nil {
		return // Accept has responded
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxMessage)

	// A shutdown cancels the context of a hijacked connection after the drain delay.
	ctx, cancel := context.WithCancelCause(c.Request.Context())
	m := &member{conn: conn, messages: make(chan []byte, queueSize), cancel: cancel}
	r.join(m)
	var writer sync.WaitGroup
	writer.Go(func() { m.write(ctx) })
	r.read(context.WithoutCancel(ctx), m)
	r.leave(m)
	cancel(nil)
	writer.Wait()
}

// read sends the messages of a member to all members, until its connection is closed. The
// context must not be canceled, because this closes the connection without a close frame.
func (r *room) read(ctx context.Context, m *member) {
	for {
		_, text, err := m.conn.Read(ctx)
		if err != nil {
			return
		}
		r.send(text)
	}
}

func (r *room) join(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members[m] = struct{}{}
}

func (r *room) leave(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.members, m)
}

// send queues a message for all members. It never waits for a slow member.
func (r *room) send(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.members {
		select {
		case m.messages <- text:
		default:
			m.cancel(errSlow)
		}
	}
}

// write sends messages and pings until ctx is done. Then it sends a close frame and waits
// for that of the client.
func (m *member) write(ctx context.Context) {
	ping := time.NewTicker(pingInterval)
	defer ping.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			m.close(context.Cause(ctx))
			return
		case text := <-m.messages:
			err = m.try(ctx, func(ctx context.Context) error {
				return m.conn.Write(ctx, websocket.MessageText, text)
			})
		case <-ping.C:
			err = m.try(ctx, m.conn.Ping)
		}
		if err != nil {
			_ = m.conn.CloseNow() // read returns
			return
		}
	}
}

// try calls f with the write timeout, even if a shutdown has started.
func (m *member) try(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return f(ctx)
}

func (m *member) close(cause error) {
	if errors.Is(cause, errSlow) {
		_ = m.conn.Close(websocket.StatusPolicyViolation, cause.Error())
		return
	}
	_ = m.conn.Close(websocket.StatusGoingAway, "the service is stopping")
}
