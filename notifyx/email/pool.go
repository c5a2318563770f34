package email

import (
	"context"
	"slices"
	"time"
)

// acquire returns a connection for one message: the most recently used one, or a new one.
// If fresh is true, it returns a new one and closes the idle ones, because the server
// just closed one of them.
func (c *EmailClient) acquire(ctx context.Context, fresh bool) (*session, error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, contextError(ctx, "waiting for a connection")
	}
	if s := c.takeIdle(fresh); s != nil {
		s.conn.bind(ctx)
		return s, nil
	}
	s, err := c.open(ctx)
	if err != nil {
		<-c.slots
		return nil, err
	}
	return s, nil
}

// takeIdle returns an idle connection, or nil. If fresh is true, it closes all idle
// connections.
func (c *EmailClient) takeIdle(fresh bool) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.idle) > 0 {
		last := len(c.idle) - 1
		s := c.idle[last]
		c.idle = c.idle[:last]
		s.idle.Stop() // if the timer fired, expire does nothing
		if !fresh {
			return s
		}
		c.quitAsync(s)
	}
	return nil
}

// release returns a connection to the pool if keep is true, else it closes the
// connection.
func (c *EmailClient) release(s *session, keep bool) {
	c.mu.Lock()
	switch {
	case !keep:
		s.close()
	case c.closed:
		c.quitAsync(s)
	default:
		s.conn.bind(c.base)
		s.idle = time.AfterFunc(c.config.IdleTimeout, func() { c.expire(s) })
		c.idle = append(c.idle, s)
	}
	c.mu.Unlock()
	<-c.slots
}

// expire closes an idle connection.
func (c *EmailClient) expire(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.idle, s); i >= 0 {
		c.idle = slices.Delete(c.idle, i, i+1)
		c.quitAsync(s)
	}
}

// quitAsync closes a connection with QUIT in the background; only Close waits for it. The
// caller holds the lock.
func (c *EmailClient) quitAsync(s *session) {
	c.quits.Go(func() { s.quit(c.base) })
}
