package email

import (
	"context"
	"slices"
	"time"
)

// acquire returns a connection for one message: the one that was used last, else a new
// one. With fresh it is a new one, and those that wait are given up, since the server has
// just ended one of them.
func (c *EmailClient) acquire(ctx context.Context, fresh bool) (*session, error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ended(ctx, "waiting for a connection")
	}
	if s := c.take(fresh); s != nil {
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

// take returns a connection that waits, or nil. With fresh it dismisses them all.
func (c *EmailClient) take(fresh bool) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.idle) > 0 {
		last := len(c.idle) - 1
		s := c.idle[last]
		c.idle = c.idle[:last]
		s.idle.Stop() // where it has fired, expire finds nothing
		if !fresh {
			return s
		}
		c.dismiss(s)
	}
	return nil
}

// release gives a connection back, to be used again where keep is true.
func (c *EmailClient) release(s *session, keep bool) {
	c.mu.Lock()
	switch {
	case !keep:
		s.cut()
	case c.closed:
		c.dismiss(s)
	default:
		s.conn.bind(c.base)
		s.idle = time.AfterFunc(c.config.IdleTimeout, func() { c.expire(s) })
		c.idle = append(c.idle, s)
	}
	c.mu.Unlock()
	<-c.slots
}

// expire ends a connection that has waited too long.
func (c *EmailClient) expire(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.idle, s); i >= 0 {
		c.idle = slices.Delete(c.idle, i, i+1)
		c.dismiss(s)
	}
}

// dismiss says goodbye without making anybody wait but Close. The caller holds the lock.
func (c *EmailClient) dismiss(s *session) {
	c.goodbyes.Go(func() { s.quit(c.base) })
}
