package xreg_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// part is a value that records its Close.
type part struct {
	name string
	log  *[]string
}

func (p *part) Close() error {
	*p.log = append(*p.log, "close "+p.name)
	return nil
}

// partNoError is a part whose Close returns no error.
type partNoError struct{ *part }

func (p partNoError) Close() { _ = p.part.Close() }

// partContext is a part whose Close has a context.
type partContext struct{ *part }

func (p partContext) Close(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return p.part.Close()
}

// phase returns a phase that records its start and close.
func phase(log *[]string, name string) xoption.Option {
	return withPhase(startup.Phase{
		Name: name, Key: xctx.ContextKey(name),
		Start: func(context.Context) (any, error) {
			*log = append(*log, "start "+name)
			return &part{name, log}, nil
		},
	})
}

func TestNew_Order(t *testing.T) {
	t.Run("starts phases, nodes, engine and routes and closes in reverse", func(t *testing.T) {
		var log []string
		node := func(name string, value func(*part) any) xregnode.Func {
			return func(ctx context.Context) (any, error) {
				xhook.OnStop(ctx, name, func(context.Context) error {
					log = append(log, "stop "+name)
					return nil
				})
				log = append(log, "start "+name)
				return value(&part{name, &log}), nil
			}
		}
		nodes := []xregnode.Node{
			{Key: "n1", Node: node("n1", func(p *part) any { return p })},
			{Key: xctx.Exec, Node: node("exec", func(p *part) any { return partNoError{p} })},
			{Key: "n2", Node: node("n2", func(p *part) any { return partContext{p} })},
		}
		base, _ := isolated(t)
		reg, err := xreg.New(t.Context(), nodes, base,
			xoption.WithRoute(func(context.Context, *gin.Engine) { log = append(log, "routes") }),
			xoption.WithEngine(func(*gin.Engine) { log = append(log, "engine") }),
			phase(&log, "cache"), phase(&log, "database"),
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Errorf("second Close = %v, want nil", err)
		}
		want := []string{
			"start database", "start cache", "start n1", "start exec", "start n2",
			"engine", "routes",
			"stop n2", "stop exec", "stop n1",
			"close n2", "close exec", "close n1", "close cache", "close database",
		}
		if !slices.Equal(log, want) {
			t.Errorf("order\n%v\nwant\n%v", log, want)
		}
	})

	t.Run("the context of a node carries the values of earlier steps", func(t *testing.T) {
		var found []any
		recordValues := func(value any) xregnode.Func {
			return func(ctx context.Context) (any, error) {
				found = append(found, ctx.Value(xctx.ContextKey("a")),
					ctx.Value(xctx.SnowflakeNodeKey) != nil)
				return value, nil
			}
		}
		reg, _ := start(t, []xregnode.Node{
			{Key: "a", Node: recordValues(1)},
			{Key: "b", Node: recordValues(2)},
			{Key: xctx.Exec, Node: recordValues(3)},
		})
		if want := []any{nil, true, 1, true, 1, true}; !slices.Equal(found, want) {
			t.Errorf("nodes found %v, want %v", found, want)
		}
		if v := reg.Init.Ctx.Value(xctx.Exec); v != nil {
			t.Errorf("value of an Exec node = %v, want none", v)
		}
		for _, key := range []xctx.ContextKey{"a", "b", xctx.SnowflakeNodeKey, xctx.DebugKey} {
			if _, found := xregnode.From(reg.Init.Ctx).Get(key); !found {
				t.Errorf("%s is missing", key)
			}
		}
	})

	t.Run("the context carries the values of a phase", func(t *testing.T) {
		reg, _ := start(t, nil, withPhase(startup.Phase{
			Name: "cache", Key: xctx.CacheManagerKey,
			Start: func(context.Context) (any, error) { return "manager", nil },
			Values: func() map[xctx.ContextKey]any {
				return map[xctx.ContextKey]any{xctx.RedisClientKey: "client"}
			},
			Detail: func() string { return "the manager" },
		}))
		if got := reg.Init.Ctx.Value(xctx.RedisClientKey); got != "client" {
			t.Errorf("RedisClientKey = %v, want client", got)
		}
		if got := detail(reg, "cache"); got != "the manager" {
			t.Errorf("parts = %v, want the cache with its description", reg.Parts())
		}
	})
}

func TestNew_Failure(t *testing.T) {
	t.Run("a failed node closes earlier steps in reverse order", func(t *testing.T) {
		boom := errors.New("boom")
		var log []string
		hook := func(ctx context.Context) (any, error) {
			xhook.OnStop(ctx, "h", func(context.Context) error {
				log = append(log, "stop h")
				return nil
			})
			return nil, nil
		}
		base, _ := isolated(t)
		reg, err := xreg.New(t.Context(), []xregnode.Node{
			{Key: "n1", Node: func(context.Context) (any, error) { return &part{"n1", &log}, nil }},
			{Key: xctx.Exec, Node: hook},
			{Key: "n2", Node: func(context.Context) (any, error) { return nil, boom }},
			{Key: "n3", Node: func(context.Context) (any, error) {
				log = append(log, "n3")
				return nil, nil
			}},
		}, base, phase(&log, "database"))
		if reg != nil || !errors.Is(err, boom) || err.Error() != "node n2: boom" {
			t.Errorf("New = %v, %v; want nil and the error of n2", reg, err)
		}
		want := []string{"start database", "stop h", "close n1", "close database"}
		if !slices.Equal(log, want) {
			t.Errorf("order %v, want %v", log, want)
		}
	})

	t.Run("a panic of a node is an error and its stack is logged", func(t *testing.T) {
		base, out := isolated(t)
		_, err := xreg.New(t.Context(), []xregnode.Node{
			{Key: "n", Node: func(context.Context) (any, error) { panic("no luck") }},
		}, base)
		if err == nil || err.Error() != "node n: panic: no luck" {
			t.Errorf("New = %v, want the panic as an error", err)
		}
		if !strings.Contains(out.String(), "start_test.go") {
			t.Errorf("log %s\nwant a stack", out)
		}
	})

	t.Run("a panic of a route function is an error", func(t *testing.T) {
		base, _ := isolated(t)
		_, err := xreg.New(t.Context(), nil, base, xoption.WithHealth(),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/healthz", func(*gin.Context) {})
			}))
		if err == nil || !strings.Contains(err.Error(), "/healthz") {
			t.Errorf("New = %v, want an error that names the path", err)
		}
	})

	t.Run("a close error is also reported", func(t *testing.T) {
		defer xreg.SetExit(func(int) {})()
		base, out := isolated(t)
		xreg.Register(t.Context(), []xregnode.Node{
			// Close panics
			{Key: "a", Node: func(context.Context) (any, error) { return partNoError{}, nil }},
			{Key: "b", Node: func(context.Context) (any, error) { return nil, errors.New("boom") }},
		}, base)
		if linesWith(out, "start failed: node b: boom") != 1 ||
			linesWith(out, `start failed: close \"node a\"`) != 1 {
			t.Errorf("log\n%s\nwant both errors", out)
		}
	})
}

func TestReg_Close_Values(t *testing.T) {
	t.Run("a panic does not prevent other closes", func(t *testing.T) {
		var log []string
		base, _ := isolated(t)
		reg, err := xreg.New(t.Context(), []xregnode.Node{
			{Key: "a", Node: func(context.Context) (any, error) { return &part{"a", &log}, nil }},
			// Close panics because part is nil
			{Key: "b", Node: func(context.Context) (any, error) { return partNoError{}, nil }},
		}, base)
		if err != nil {
			t.Fatal(err)
		}
		if err := reg.Close(t.Context()); err == nil ||
			!strings.Contains(err.Error(), `close "node b": panic`) {
			t.Errorf("Close = %v, want the panic of b", err)
		}
		if !slices.Equal(log, []string{"close a"}) {
			t.Errorf("closed %v, want a", log)
		}
	})

	t.Run("a shared value is closed once and a nil pointer never", func(t *testing.T) {
		var log []string
		shared := &part{"shared", &log}
		base, _ := isolated(t)
		reg, err := xreg.New(t.Context(), []xregnode.Node{
			{Key: "a", Node: func(context.Context) (any, error) { return shared, nil }},
			{Key: "b", Node: func(context.Context) (any, error) { return shared, nil }},
			{Key: "c", Node: func(context.Context) (any, error) { return (*part)(nil), nil }},
		}, base)
		if err != nil {
			t.Fatal(err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Errorf("Close = %v, want nil", err)
		}
		if !slices.Equal(log, []string{"close shared"}) {
			t.Errorf("closed %v, want shared once", log)
		}
	})
}

func TestNew_Context(t *testing.T) {
	t.Run("cancellation aborts the startup", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		var log []string
		base, _ := isolated(t)
		_, err := xreg.New(ctx, []xregnode.Node{
			{Key: "a", Node: func(context.Context) (any, error) { return &part{"a", &log}, nil }},
			{Key: "b", Node: func(ctx context.Context) (any, error) {
				cancel(cause)
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}},
		}, base)
		if !errors.Is(err, cause) || !slices.Equal(log, []string{"close a"}) {
			t.Errorf("New = %v with %v, want the cause and a closed", err, log)
		}
	})

	t.Run("cancellation after the startup does not cancel the application's context",
		func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			base, _ := isolated(t)
			reg, err := xreg.New(ctx, nil, base)
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			<-reg.StopRequested().Done()
			if reg.Init.Ctx.Err() != nil {
				t.Error("the application's context was canceled with its parent")
			}
			if err := reg.Close(t.Context()); err != nil || reg.Init.Ctx.Err() == nil {
				t.Errorf("Close = %v, context error = %v; want nil and a canceled context",
					err, reg.Init.Ctx.Err())
			}
		})
}

// onClose is a value whose Close calls a function.
type onClose struct{ call func() }

func (a *onClose) Close() { a.call() }

func TestReg_Settings_Concurrency(t *testing.T) {
	base, _ := isolated(t)
	reg, err := xreg.New(t.Context(), nil, base)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	call := func() {
		calls++
		_, _ = reg.Settings(), reg.Parts()
	}
	if err := reg.Apply(xoption.WithNodes(xregnode.Node{
		Key: "a",
		Node: func(context.Context) (any, error) {
			call()
			return &onClose{call}, nil
		},
	})); err != nil {
		t.Fatal(err)
	}
	if err := reg.Close(t.Context()); err != nil || calls != 2 {
		t.Errorf("Close = %v after %d calls, want nil and 2", err, calls)
	}
}
