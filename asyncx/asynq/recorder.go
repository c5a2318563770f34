package asynq

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// script is a call of one of asynq's Lua scripts.
type script struct {
	source string
	keys   []string
	args   []any
}

// recorder is a client that records asynq's scripts instead of running them. The engine
// runs several recorded scripts in one Redis transaction, which asynq's client does not
// support.
type recorder struct {
	redis.UniversalClient // nil; asynq calls only the methods below

	scripts []script
}

// SAdd is called to register the queue.
func (*recorder) SAdd(ctx context.Context, _ string, _ ...any) *redis.IntCmd {
	cmd := redis.NewIntCmd(ctx)
	cmd.SetVal(1)
	return cmd
}

// SIsMember is called to check that the queue exists.
func (*recorder) SIsMember(ctx context.Context, _ string, _ any) *redis.BoolCmd {
	cmd := redis.NewBoolCmd(ctx)
	cmd.SetVal(true)
	return cmd
}

// EvalSha returns NOSCRIPT, so that asynq calls Eval.
func (*recorder) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(noScript{})
	return cmd
}

// Eval records the script and returns success.
func (r *recorder) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	r.scripts = append(r.scripts, script{source, keys, args})
	cmd := redis.NewCmd(ctx)
	cmd.SetVal(int64(1))
	return cmd
}

// noScript is the NOSCRIPT error of a server.
type noScript struct{}

// Error implements error.
func (noScript) Error() string { return "NOSCRIPT recorded" }

// RedisError implements redis.Error.
func (noScript) RedisError() {}

// boundClient runs scripts with a context, which asynq's Inspector does not accept, on a
// client or on one of its connections.
type boundClient struct {
	redis.UniversalClient // nil; asynq calls only the methods below

	scripter redis.Scripter
	ctx      context.Context // context of the scripts
}

// SIsMember returns true, because the caller has already found the queue.
func (b boundClient) SIsMember(context.Context, string, any) *redis.BoolCmd {
	cmd := redis.NewBoolCmd(b.ctx) // the Inspector passes its own context
	cmd.SetVal(true)
	return cmd
}

// EvalSha implements redis.Scripter.
func (b boundClient) EvalSha(_ context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return b.scripter.EvalSha(b.ctx, sha, keys, args...)
}

// Eval implements redis.Scripter.
func (b boundClient) Eval(_ context.Context, source string, keys []string, args ...any) *redis.Cmd {
	return b.scripter.Eval(b.ctx, source, keys, args...)
}
