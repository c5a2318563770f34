package xctx_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestRequest_GenerateID(t *testing.T) {
	t.Run("returns unique version 4 UUIDs", func(t *testing.T) {
		seen := map[string]bool{}
		for range 1000 {
			r := xctx.NewRequest(t.Context(), nil)
			r.GenerateID()
			u, err := uuid.Parse(r.ID())
			if err != nil {
				t.Fatalf("ID = %q: %v", r.ID(), err)
			}
			if u.Version() != 4 || u.Variant() != uuid.RFC4122 {
				t.Fatalf("ID = %q has version %d, variant %v; want 4, RFC 4122",
					r.ID(), u.Version(), u.Variant())
			}
			if seen[r.ID()] {
				t.Fatalf("ID %q is not unique", r.ID())
			}
			seen[r.ID()] = true
		}
	})

	t.Run("allocates no memory beyond the request", func(t *testing.T) {
		ctx := t.Context()
		var r *xctx.Request
		got := testing.AllocsPerRun(100, func() {
			r = xctx.NewRequest(ctx, nil)
			r.GenerateID()
		})
		if got != 1 {
			t.Errorf("allocations = %v, want 1", got)
		}
		if xctx.RequestFrom(r) != r {
			t.Error("RequestFrom did not return the request itself")
		}
	})
}

type key string

func TestRequest_Value(t *testing.T) {
	t.Run("searches the request, the parent, then the base", func(t *testing.T) {
		base := context.WithValue(t.Context(), key("app"), "base")
		base = context.WithValue(base, key("both"), "base")
		parent := context.WithValue(t.Context(), key("both"), "parent")
		parent = context.WithValue(parent, xctx.RequestKey, "outer")
		r := xctx.NewRequest(parent, base)

		if got := r.Value(xctx.RequestKey); got != "outer" {
			t.Errorf("ID before SetID = %v, want outer", got)
		}
		r.SetID("mine")
		for _, tc := range []struct {
			name string
			key  any
			want any
		}{
			{name: "own ID", key: xctx.RequestKey, want: "mine"},
			{name: "own start", key: xctx.UserStartTimeKey, want: r.Start()},
			{name: "parent before base", key: key("both"), want: "parent"},
			{name: "base last", key: key("app"), want: "base"},
			{name: "unknown key", key: key("none"), want: nil},
			{name: "no error code", key: xctx.ErrorCodeKey, want: nil},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got := r.Value(tc.key); got != tc.want {
					t.Errorf("Value(%v) = %v, want %v", tc.key, got, tc.want)
				}
			})
		}
	})

	t.Run("returns the failure", func(t *testing.T) {
		r := xctx.NewRequest(t.Context(), nil)
		r.Fail(40400, "no such thing")
		if got := r.Value(xctx.ErrorCodeKey); got != 40400 {
			t.Errorf("ErrorCodeKey = %v, want 40400", got)
		}
		if got := r.Value(xctx.ErrorMessageKey); got != "no such thing" {
			t.Errorf("ErrorMessageKey = %v, want the message", got)
		}
	})

	t.Run("searches the base that SetBase sets", func(t *testing.T) {
		r := xctx.NewRequest(t.Context(), nil)
		r.SetBase(context.WithValue(t.Context(), key("app"), "base"))
		if got := r.Value(key("app")); got != "base" {
			t.Errorf("Value = %v, want base", got)
		}
	})

	t.Run("returns nil for a nil request", func(t *testing.T) {
		var r *xctx.Request
		if got := r.Value(xctx.RequestKey); got != nil {
			t.Errorf("Value = %v, want nil", got)
		}
		if got := xctx.RequestID(r); got != "" {
			t.Errorf("RequestID = %q, want empty", got)
		}
	})
}

func TestRequestFrom(t *testing.T) {
	r := xctx.NewRequest(t.Context(), nil)
	ctx, cancel := context.WithTimeout(context.WithValue(r, key("k"), 1), time.Minute)
	defer cancel()
	if xctx.RequestFrom(ctx) != r {
		t.Error("RequestFrom did not find the request")
	}
	if xctx.RequestFrom(t.Context()) != nil {
		t.Error("RequestFrom found a request in a context without one")
	}
}

func TestRequest_Done(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	r := xctx.NewRequest(parent, t.Context())
	cancel()
	<-r.Done()
	if !errors.Is(r.Err(), context.Canceled) {
		t.Errorf("Err = %v, want context.Canceled", r.Err())
	}
}

func TestValidID(t *testing.T) {
	for _, tc := range []struct {
		name string
		id   string
		want bool
	}{
		{name: "empty", id: "", want: false},
		{name: "UUID", id: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", want: true},
		{name: "every kind of character", id: "aZ09._-", want: true},
		{name: "64 characters", id: strings.Repeat("a", 64), want: true},
		{name: "65 characters", id: strings.Repeat("a", 65), want: false},
		{name: "line break", id: "a\nb", want: false},
		{name: "beyond ASCII", id: "é", want: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := xctx.ValidID(tc.id); got != tc.want {
				t.Errorf("ValidID(%q) = %t, want %t", tc.id, got, tc.want)
			}
		})
	}
}

func TestContextKey(t *testing.T) {
	for _, k := range []xctx.ContextKey{
		xctx.RequestKey, xctx.UserStartTimeKey, xctx.RegNodeKey, xctx.DebugKey,
		xctx.DatabaseKey, xctx.CacheManagerKey, xctx.RedisClientKey, xctx.LeasesKey,
		xctx.SnowflakeNodeKey, xctx.ErrorCodeKey, xctx.ErrorMessageKey,
	} {
		if !k.IsReserved() {
			t.Errorf("%s is not reserved", k)
		}
	}
	for _, k := range []xctx.ContextKey{xctx.Exec, xctx.EmailClientKey, "mine"} {
		if k.IsReserved() {
			t.Errorf("%s is reserved", k)
		}
	}
	if !xctx.Exec.IsExec() || xctx.Exec.IsNil() || !xctx.ContextKey("").IsNil() {
		t.Error("IsExec or IsNil returns an incorrect result")
	}
}

func BenchmarkRequest(b *testing.B) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		xctx.NewRequest(ctx, nil).GenerateID()
	}
}
