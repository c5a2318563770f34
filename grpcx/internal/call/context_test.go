package call_test

import (
	"context"
	"log/slog"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
)

func TestContext(t *testing.T) {
	t.Run("exposes the values of the application", func(t *testing.T) {
		log, engine := calltest.NewLog(t)
		nodes, database := &struct{ int }{1}, &struct{ string }{"database"}
		app := xlog.NewContext(t.Context(), engine)
		app = context.WithValue(app, xctx.RegNodeKey, nodes)
		app = context.WithValue(app, xctx.DatabaseKey, database)
		app, cancel := context.WithCancel(app)
		cancel() // must not cancel the calls
		inAllKinds(t, call.Config{App: app}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.setHandlers(func(ctx context.Context) error {
					got, err := xctxutil.Get[*struct{ string }](ctx, xctx.DatabaseKey)
					if got != database || err != nil {
						f.Errorf("database = %v, %v; want %v", got, err, database)
					}
					if ctx.Value(xctx.RegNodeKey) != nodes || ctx.Err() != nil {
						f.Errorf("nodes = %v, context error = %v; want %v and nil",
							ctx.Value(xctx.RegNodeKey), ctx.Err(), nodes)
					}
					xlog.Info(ctx, "from "+f.Name(), slog.Int("k", 1))
					return nil
				})
				if a := do(f.Context()); a.err != nil ||
					log.Only("from " + f.Name())["request_id"] != a.id(f.T) {
					f.Errorf("err = %v, log:\n%s", a.err, log)
				}
				if got := f.log.String(); got != "" {
					f.Errorf("default log = %s, want empty", got)
				}
			})
	})

	t.Run("is canceled with the call only", func(t *testing.T) {
		inAllKinds(t, call.Config{App: context.Background()}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				ctx, cancel := context.WithCancel(f.Context())
				f.setHandlers(func(ctx context.Context) error {
					cancel()
					<-ctx.Done()
					return ctx.Err()
				})
				if a := do(ctx); status.Code(a.err) != codes.Canceled {
					f.Errorf("err = %v, want Canceled", a.err)
				}
				if line := f.log.Await("call"); line["status"] != "CANCELLED" ||
					line["level"] != "info" {
					f.Errorf("line = %v, want CANCELLED at level info", line)
				}
			})
	})

	t.Run("is optional", func(t *testing.T) {
		inAllKinds(t, call.Config{}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.setHandlers(func(ctx context.Context) error {
					if v := ctx.Value(xctx.RegNodeKey); v != nil {
						f.Errorf("nodes = %v, want nil", v)
					}
					return nil
				})
				if a := do(f.Context()); a.err != nil {
					f.Error(a.err)
				}
			})
	})

	// A goroutine of a handler may read the context after the call.
	t.Run("remains valid after the call", func(t *testing.T) {
		inAllKinds(t, call.Config{}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				var contexts []context.Context
				f.setHandlers(func(ctx context.Context) error {
					contexts = append(contexts, ctx)
					return nil
				})
				ids := []string{do(f.Context()).id(f.T), do(f.Context()).id(f.T)}
				for i, ctx := range contexts {
					if got := xctxutil.GetRequestKey(ctx); got != ids[i] {
						f.Errorf("id = %s, want %s", got, ids[i])
					}
				}
				if ids[0] == ids[1] {
					f.Errorf("ids = %q, want different ones", ids)
				}
			})
	})
}
