package protovalidate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	buf "buf.build/go/protovalidate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/protovalidate"
)

func TestNew(t *testing.T) {
	t.Run("returns violations as field errors", func(t *testing.T) {
		check := protovalidate.MustNew()
		positive := func(field string) xvalid.FieldError {
			return xvalid.FieldError{
				Field: field, Tag: "int32.gt", Message: "must be greater than 0",
			}
		}
		tests := []struct {
			name, order string
			want        []xvalid.FieldError
		}{
			{"valid", `name: "abc"`, nil},
			{
				"a field", `name: "x"`,
				[]xvalid.FieldError{{
					Field: "name", Tag: "string.min_len", Message: "must be at least 3 characters",
				}},
			},
			{
				"two fields", `name: "abc" items {price: 1} items {} items {price: -1}`,
				[]xvalid.FieldError{positive("items[1].price"), positive("items[2].price")},
			},
			{
				"a nested message", `name: "abc" parent {name: "abc" items {}}`,
				[]xvalid.FieldError{positive("parent.items[0].price")},
			},
			{
				"a plain key", `name: "abc" by {key: "home-1" value {}}`,
				[]xvalid.FieldError{positive("by[home-1].price")},
			},
			{
				"another key", `name: "abc" by {key: "a b" value {}}`,
				[]xvalid.FieldError{positive("by[*].price")},
			},
			{
				"an integer key", `name: "abc" ids {key: -7}`,
				[]xvalid.FieldError{positive("ids[-7]")},
			},
			{
				"a natural key", `name: "abc" sizes {key: 7}`,
				[]xvalid.FieldError{positive("sizes[7]")},
			},
			{
				"a boolean key", `name: "abc" flags {key: true}`,
				[]xvalid.FieldError{positive("flags[true]")},
			},
			{
				"the key itself", `name: "abc" by {key: "hunter2" value {price: 1}}`,
				[]xvalid.FieldError{{
					Field: "by[*]", Tag: "string.not_in", Message: "must not be in list [hunter2]",
				}},
			},
			{
				"the message", `name: "abc" from: 2 until: 1`,
				[]xvalid.FieldError{{
					Field: "", Tag: "order.dates", Message: "the end is before the start",
				}},
			},
		}
		for _, tc := range tests {
			t.Run(tc.name, func(t *testing.T) {
				got := failuresOf(t, check, message("Order", tc.order))
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("failures (-want +got):\n%s", diff)
				}
			})
		}
	})

	t.Run("hides the invalid value", func(t *testing.T) {
		err := protovalidate.MustNew()(t.Context(), message("Order", `name: "§§"`))
		var found *buf.ValidationError
		if !errors.As(err, &found) {
			t.Fatalf("got %v, want the error of protovalidate as the cause", err)
		}
		const want = "PARAMETER_ERROR: name: must be at least 3 characters: " +
			"grpcx/validation: invalid request: name (string.min_len)"
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	})

	t.Run("accepts requests that are not messages", func(t *testing.T) {
		check := protovalidate.MustNew()
		for _, request := range []any{nil, "hello", &struct{ Name string }{}} {
			if err := check(t.Context(), request); err != nil {
				t.Errorf("error for %T = %v, want nil", request, err)
			}
		}
	})

	t.Run("validates a nil message as empty", func(t *testing.T) {
		order := dynamicpb.NewMessageType(file.Messages().ByName("Order")).Zero().Interface()
		if got := failuresOf(t, protovalidate.MustNew(), order); len(got) != 1 ||
			got[0].Field != "name" {
			t.Errorf("got %v, want the failure of name", got)
		}
	})

	t.Run("limits the number of failures", func(t *testing.T) {
		request := message("Order", `name: "abc" codes: `+"["+strings.Repeat(`"", `, 200)+`""]`)
		if got := len(failuresOf(t, protovalidate.MustNew(), request)); got != xvalid.MaxFailures {
			t.Errorf("got %d failures, want %d", got, xvalid.MaxFailures)
		}
	})

	t.Run("reports the first failure of a large request", func(t *testing.T) {
		request := message("Order", `name: "abc" codes: `+"["+strings.Repeat(`"", `, 40_000)+`""]`)
		want := []xvalid.FieldError{{
			Field: "codes[0]", Tag: "string.min_len", Message: "must be at least 1 characters",
		}}
		if diff := cmp.Diff(want, failuresOf(t, protovalidate.MustNew(), request)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("limits the length of a path", func(t *testing.T) {
		order := message("Order", strings.Repeat(`name: "abc" parent {`, 1000)+
			`name: "x"`+strings.Repeat("}", 1000))
		got := failuresOf(t, protovalidate.MustNew(), order)
		if want := strings.Repeat("parent.", 31) + "parent"; len(got) != 1 || got[0].Field != want {
			t.Errorf("got %.400v, want the path %s", got, want)
		}
	})

	t.Run("applies the options of protovalidate", func(t *testing.T) {
		check := protovalidate.MustNew(buf.WithFailFast())
		order := message("Order", `name: "abc" items {} items {}`)
		if got := failuresOf(t, check, order); len(got) != 1 {
			t.Errorf("got %d failures, want 1", len(got))
		}
	})

	t.Run("compiles the rules of WithMessages", func(t *testing.T) {
		check := protovalidate.MustNew(buf.WithMessages(message("Order", "")),
			buf.WithDisableLazy())
		if got := failuresOf(t, check, message("Order", `name: "x"`)); len(got) != 1 {
			t.Errorf("got %v, want the failure of name", got)
		}
		ctx, _ := contextWithLog(t)
		wantInternal(t, check(ctx, message("Fragile", "")))
	})
}

func TestNew_RuleErrors(t *testing.T) {
	t.Run("are logged if a rule does not compile", func(t *testing.T) {
		for _, request := range []proto.Message{
			message("Broken", ""),
			message("ContainsBroken", "broken {}"),
			message("Hidden", `number: 1 broken {key: "a" value {}}`),
		} {
			ctx, log := contextWithLog(t)
			err := protovalidate.MustNew()(ctx, request)
			wantInternal(t, err)
			if got := log.String(); !strings.Contains(got, "no_such_field") ||
				!strings.Contains(got, "shop.") {
				t.Errorf("log = %s, want the rule that does not compile", got)
			}
		}
	})

	t.Run("hide the value if a rule fails at run time", func(t *testing.T) {
		ctx, log := contextWithLog(t)
		err := protovalidate.MustNew()(ctx, message("Fragile", `at: "hunter2"`))
		wantInternal(t, err)
		var runtime *buf.RuntimeError
		if !errors.As(err, &runtime) {
			t.Errorf("got %v, want the error of protovalidate as the cause", err)
		}
		if got := log.String(); !strings.Contains(got, "fragile.rule") ||
			strings.Contains(got, "hunter2") {
			t.Errorf("log = %s, want the rule without the value", got)
		}
	})
}

func TestNew_Concurrency(t *testing.T) {
	check := protovalidate.MustNew()
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if err := check(context.Background(), message("Order", `name: "x"`)); err == nil {
				t.Error("an invalid order was accepted")
			}
			if err := check(context.Background(), message("Order", `name: "abc"`)); err != nil {
				t.Errorf("error = %v, want nil", err)
			}
		})
	}
	calls.Wait()
}

// wantInternal checks that err is logged and exposes nothing to the client.
func wantInternal(t *testing.T, err error) {
	t.Helper()
	var e *xerror.Error
	if !errors.As(err, &e) || e.GetErrorCode() != xerror.ServerInternalError {
		t.Fatalf("error = %v, want SERVER_INTERNAL_ERROR", err)
	}
	if e.GetErrorMessage() != "" || e.GetData() != nil || !e.Logged() {
		t.Errorf("message = %q, data = %v, logged = %t; want an empty message, no data, true",
			e.GetErrorMessage(), e.GetData(), e.Logged())
	}
}
