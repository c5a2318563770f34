package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// once is a hook that prevents the cluster client from resending a command after its
// reply was lost. The client may still resend rejected and unsent commands.
type once struct{}

// DialHook implements redis.Hook.
func (once) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (once) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return final(next(ctx, cmd)) }
}

// ProcessPipelineHook implements redis.Hook. The client uses pipelines for keys that
// migrate to another server.
func (once) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return final(next(ctx, cmds)) }
}

// unknownOutcome is an error after which a command may have been executed. It does not
// unwrap, so that the client does not retry.
type unknownOutcome struct{ cause error }

// Error implements error.
func (e *unknownOutcome) Error() string { return e.cause.Error() }

// final hides connection errors from the client's retry logic.
func final(err error) error {
	var reply redis.Error
	var unsent *dialError
	switch {
	case err == nil, errors.As(err, &reply), errors.As(err, &unsent),
		errors.Is(err, redis.ErrClosed), errors.Is(err, redis.ErrPoolTimeout):
		return err
	default:
		return &unknownOutcome{err}
	}
}
