package asynq

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// script is a call of one of asynq's scripts.
type script struct {
	source string
	keys   []string
	args   []any
}

// recorder is a client that sends nothing, and remembers the scripts that asynq would
// run. So asynq says how a task is stored or deleted, and several of that are one
// transaction of Redis, which asynq's client does not offer.
type recorder struct {
	redis.UniversalClient // nil: no other method is called

	scripts []script
}

// SAdd is called to note the name of the queue.
func (*recorder) SAdd(ctx context.Context, _ string, _ ...any) *redis.IntCmd {
	cmd := redis.NewIntCmd(ctx)
	cmd.SetVal(1)
	return cmd
}

// SIsMember is called to see whether the queue is there.
func (*recorder) SIsMember(ctx context.Context, _ string, _ any) *redis.BoolCmd {
	cmd := redis.NewBoolCmd(ctx)
	cmd.SetVal(true)
	return cmd
}

// EvalSha asks for the source.
func (*recorder) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(noScript{})
	return cmd
}

// Eval records the script and gives the answer of success.
func (r *recorder) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	r.scripts = append(r.scripts, script{source, keys, args})
	cmd := redis.NewCmd(ctx)
	cmd.SetVal(int64(1))
	return cmd
}

// noScript is the answer of a server that does not know a script.
type noScript struct{}

// Error implements error.
func (noScript) Error() string { return "NOSCRIPT recorded" }

// RedisError implements redis.Error.
func (noScript) RedisError() {}

// bound is a client whose scripts run on one connection or client, and end with a
// context, which asynq's Inspector does not accept.
type bound struct {
	redis.UniversalClient // nil: no other method is called

	scripter redis.Scripter
	ctx      context.Context // what a bound client is for
}

// SIsMember answers that the queue is there: who asks has found it.
func (b bound) SIsMember(context.Context, string, any) *redis.BoolCmd {
	cmd := redis.NewBoolCmd(b.ctx) // the Inspector's is never the caller's
	cmd.SetVal(true)
	return cmd
}

// EvalSha implements redis.Scripter.
func (b bound) EvalSha(_ context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return b.scripter.EvalSha(b.ctx, sha, keys, args...)
}

// Eval implements redis.Scripter.
func (b bound) Eval(_ context.Context, source string, keys []string, args ...any) *redis.Cmd {
	return b.scripter.Eval(b.ctx, source, keys, args...)
}
