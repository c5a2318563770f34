package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// once keeps the client of a cluster from sending a command again after its answer was
// lost. What the client does again is what a server has refused, or what was never sent.
type once struct{}

// DialHook implements redis.Hook.
func (once) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (once) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return final(next(ctx, cmd)) }
}

// ProcessPipelineHook implements redis.Hook. A command is in a pipeline when a key is on
// its way to another server.
func (once) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return final(next(ctx, cmds)) }
}

// lost is an error after which a command may or may not have been done. The client sees
// nothing in it.
type lost struct{ cause error }

// Error implements error.
func (e *lost) Error() string { return e.cause.Error() }

// final hides errors of connections from the client.
func final(err error) error {
	var answer redis.Error
	var unsent *dialError
	switch {
	case err == nil, errors.As(err, &answer), errors.As(err, &unsent),
		errors.Is(err, redis.ErrClosed), errors.Is(err, redis.ErrPoolTimeout):
		return err
	default:
		return &lost{err}
	}
}
