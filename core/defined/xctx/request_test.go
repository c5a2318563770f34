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

func TestGeneratedIDIsARandomVersion4UUID(t *testing.T) {
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
			t.Fatalf("ID %q came twice", r.ID())
		}
		seen[r.ID()] = true
	}
}

func TestRequestAllocatesOnce(t *testing.T) {
	ctx := t.Context()
	var keep *xctx.Request
	got := testing.AllocsPerRun(100, func() {
		keep = xctx.NewRequest(ctx, nil)
		keep.GenerateID()
	})
	if got != 1 {
		t.Errorf("allocations = %v, want 1", got)
	}
	if xctx.RequestFrom(keep) != keep {
		t.Error("RequestFrom did not return the request itself")
	}
}

type key string

func TestValueAsksTheRequestThenParentThenBase(t *testing.T) {
	base := context.WithValue(t.Context(), key("app"), "base")
	base = context.WithValue(base, key("both"), "base")
	parent := context.WithValue(t.Context(), key("both"), "parent")
	parent = context.WithValue(parent, xctx.RequestKey, "outer")
	r := xctx.NewRequest(parent, base)

	if got := r.Value(xctx.RequestKey); got != "outer" {
		t.Errorf("id before SetID = %v, want the parent's", got)
	}
	r.SetID("mine")
	for _, tc := range []struct {
		name string
		key  any
		want any
	}{
		{name: "own id", key: xctx.RequestKey, want: "mine"},
		{name: "own start", key: xctx.UserStartTimeKey, want: r.Start()},
		{name: "parent before base", key: key("both"), want: "parent"},
		{name: "base last", key: key("app"), want: "base"},
		{name: "nowhere", key: key("none"), want: nil},
		{name: "no failure", key: xctx.ErrorCodeKey, want: nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := r.Value(tc.key); got != tc.want {
				t.Errorf("Value(%v) = %v, want %v", tc.key, got, tc.want)
			}
		})
	}
}

func TestFailureIsVisibleUnderItsKeys(t *testing.T) {
	r := xctx.NewRequest(t.Context(), nil)
	r.Fail(40400, "no such thing")
	if got := r.Value(xctx.ErrorCodeKey); got != 40400 {
		t.Errorf("ErrorCodeKey = %v, want 40400", got)
	}
	if got := r.Value(xctx.ErrorMessageKey); got != "no such thing" {
		t.Errorf("ErrorMessageKey = %v, want the message", got)
	}
}

func TestRequestFromFindsTheRequestThroughDerivedContexts(t *testing.T) {
	r := xctx.NewRequest(t.Context(), nil)
	ctx, cancel := context.WithTimeout(context.WithValue(r, key("k"), 1), time.Minute)
	defer cancel()
	if xctx.RequestFrom(ctx) != r {
		t.Error("RequestFrom lost the request")
	}
	if xctx.RequestFrom(t.Context()) != nil {
		t.Error("RequestFrom found a request where there is none")
	}
}

func TestCancellationIsTheParents(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	r := xctx.NewRequest(parent, t.Context())
	cancel()
	<-r.Done()
	if !errors.Is(r.Err(), context.Canceled) {
		t.Errorf("Err = %v, want context.Canceled", r.Err())
	}
}

func TestValidIDForgesNothing(t *testing.T) {
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

func TestBaseMayBeSetAfterTheBegin(t *testing.T) {
	r := xctx.NewRequest(t.Context(), nil)
	r.SetBase(context.WithValue(t.Context(), key("app"), "base"))
	if got := r.Value(key("app")); got != "base" {
		t.Errorf("Value = %v, want that of the base", got)
	}
}

func TestReservedKeys(t *testing.T) {
	for _, k := range []xctx.ContextKey{
		xctx.RequestKey, xctx.UserStartTimeKey, xctx.RegNodeKey, xctx.DatabaseKey,
		xctx.CacheManagerKey,
		xctx.RedisClientKey, xctx.LeasesKey, xctx.SnowflakeNodeKey, xctx.ErrorCodeKey,
		xctx.ErrorMessageKey,
		xctx.DebugKey,
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
		t.Error("IsExec or IsNil is wrong")
	}
}

func BenchmarkRequest(b *testing.B) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		xctx.NewRequest(ctx, nil).GenerateID()
	}
}

func TestRequest_Value_ofNil(t *testing.T) {
	var none *xctx.Request
	if got := none.Value(xctx.RequestKey); got != nil {
		t.Errorf("Value = %v, want nil", got)
	}
	if got := xctx.RequestID(none); got != "" {
		t.Errorf("RequestID = %q, want nothing", got)
	}
}
