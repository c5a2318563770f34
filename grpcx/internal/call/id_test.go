package call_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

var uuid = regexp.MustCompile(
	`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestTrace(t *testing.T) {
	t.Run("accepts a valid ID of the caller", func(t *testing.T) {
		inAllKinds(t, call.Config{}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				for _, tc := range []struct {
					name  string
					pairs []string
					want  string // "" for a generated ID
				}{
					{name: "none"},
					{
						name:  "underscores",
						pairs: []string{"x_request_uuid", "abc.DEF-1_2"},
						want:  "abc.DEF-1_2",
					},
					{name: "dashes", pairs: []string{"x-request-uuid", "dashed"}, want: "dashed"},
					{
						name:  "both",
						pairs: []string{"x-request-uuid", "dashed", "x_request_uuid", "second"},
						want:  "second",
					},
					{
						name:  "two values",
						pairs: []string{"x_request_uuid", "first", "x_request_uuid", "second"},
						want:  "first",
					},
					{
						name:  "the longest",
						pairs: []string{"x_request_uuid", strings.Repeat("a", 64)},
						want:  strings.Repeat("a", 64),
					},
					{name: "too long", pairs: []string{"x_request_uuid", strings.Repeat("a", 65)}},
					{name: "empty", pairs: []string{"x_request_uuid", ""}},
					{name: "a space", pairs: []string{"x_request_uuid", "a b"}},
					{name: "a quote", pairs: []string{"x_request_uuid", `a"b`}},
				} {
					f.Run(tc.name, func(t *testing.T) {
						a := do(with(t.Context(), tc.pairs...))
						id := a.id(t)
						if a.err != nil || tc.want != "" && id != tc.want ||
							tc.want == "" && !uuid.MatchString(id) {
							t.Errorf("id = %q, err = %v, want %q", id, a.err, tc.want)
						}
					})
				}
			})
	})

	t.Run("sets the ID in the context, the trailer and the log", func(t *testing.T) {
		boom := errors.New("boom")
		for _, tc := range []struct {
			name string
			do   func() error
		}{
			{name: "success", do: func() error { return nil }},
			{name: "error", do: func() error { return boom }},
			{name: "panic", do: func() error { panic("boom") }},
		} {
			t.Run(tc.name, func(t *testing.T) {
				inAllKinds(t, call.Config{}, appInterceptors{},
					func(f *fixture, do func(context.Context) *outcome) {
						var id string
						var start time.Time
						before := time.Now()
						f.setHandlers(func(ctx context.Context) error {
							id, _ = ctx.Value(xctx.RequestKey).(string)
							start, _ = ctx.Value(xctx.UserStartTimeKey).(time.Time)
							return tc.do()
						})
						a := do(f.Context())
						if !uuid.MatchString(id) || a.id(f.T) != id {
							f.Errorf("id = %q in the context, %q in the trailer", id, a.id(f.T))
						}
						if start.Before(before) || start.After(time.Now()) {
							f.Errorf("start = %v, want after %v", start, before)
						}
						if a.err != nil && envelopeOf(f.T, a.err).GetContext() != id {
							f.Errorf("envelope = %v, want the id %s", envelopeOf(f.T, a.err), id)
						}
						if got := f.log.Only("call")["request_id"]; got != id {
							f.Errorf("id of the log = %v, want %s", got, id)
						}
						for row := range strings.Lines(f.log.String()) {
							if !strings.Contains(row, id) {
								f.Errorf("line = %s, want the id %s", row, id)
							}
						}
					})
			})
		}
	})

	// The Runner reuses the maps of trailers.
	t.Run("does not mix the trailers of concurrent calls", func(t *testing.T) {
		inAllKinds(t, call.Config{InFlight: new(call.InFlight)}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.setHandlers(func(context.Context) error { return nil })
				var calls sync.WaitGroup
				for caller := range 8 {
					calls.Go(func() {
						for n := range 50 {
							want := fmt.Sprintf("%d.%d", caller, n)
							a := do(with(f.Context(), "x_request_uuid", want))
							got := a.trailer.Get("x_request_uuid")
							if !slices.Equal(got, []string{want}) {
								f.Errorf("ids of the trailer = %q, want %q", got, want)
							}
						}
					})
				}
				calls.Wait()
			})
	})

	// Without the Runner, a server may use any transport.
	t.Run("allows a transport to retain the trailer", func(t *testing.T) {
		trace := call.Unary(call.Trace, call.Config{})
		first, second := &transport{}, &transport{}
		for id, transport := range map[string]*transport{"first": first, "second": second} {
			md := metadata.Pairs("x_request_uuid", id)
			ctx := grpc.NewContextWithServerTransportStream(t.Context(), transport)
			ctx = metadata.NewIncomingContext(ctx, md)
			_, err := trace(ctx, &pb.TestRequest{}, &grpc.UnaryServerInfo{FullMethod: unaryMethod},
				func(context.Context, any) (any, error) { return &pb.TestResponse{}, nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		ids := [...]string{trailerID(t, first.trailer), trailerID(t, second.trailer)}
		if want := [...]string{"first", "second"}; ids != want {
			t.Errorf("ids of the trailers = %q, want %q", ids, want)
		}
	})

	t.Run("sets the ID in the response", func(t *testing.T) {
		inAllForms(t, call.Config{}, appInterceptors{}, func(f *fixture) {
			a := unaryOf(with(f.Context(), "x_request_uuid", "abc"), f.client)
			if a.err != nil || a.responses[0].GetBaseResponse().GetContext() != "abc" {
				f.Errorf("got %v, %v", a.responses, a.err)
			}
		})
	})

	t.Run("translates errors to the caller's language", func(t *testing.T) {
		inAllKinds(t, call.Config{}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.setHandlers(func(context.Context) error {
					return xerror.New(xerror.NotFound, "")
				})
				message := func(ctx context.Context) string {
					return envelopeOf(f.T, do(ctx).err).GetMessage()
				}
				english := message(f.Context())
				chinese := message(with(f.Context(), "accept-language", "zh-CN,zh;q=0.9"))
				if english == chinese || english == "" || chinese == "" {
					f.Errorf("messages = %q and %q, want English and Chinese", english, chinese)
				}
			})
	})
}
