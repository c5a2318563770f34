package meta_test

import (
	"context"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/internal/meta"
)

func TestNewKey(t *testing.T) {
	for _, tc := range []struct {
		key  constant.Metadata
		want meta.Key
	}{
		{"x_request_uuid", meta.Key{"x_request_uuid", "x-request-uuid"}},
		{"accept-language", meta.Key{"accept-language", "accept-language"}},
		{"X-Tenant", meta.Key{"x-tenant", "x-tenant"}},
		{"Shop_Tenant", meta.Key{"shop_tenant", "shop-tenant"}},
	} {
		if got := meta.NewKey(tc.key); got != tc.want {
			t.Errorf("NewKey(%q) = %q, want %q", tc.key, got, tc.want)
		}
	}
}

func TestFirst(t *testing.T) {
	key := meta.NewKey("a_b")
	for _, tc := range []struct {
		name string
		md   metadata.MD
		want string
		has  bool
	}{
		{"no metadata", nil, "", false},
		{"another key", metadata.Pairs("a", "1"), "", false},
		{"a key without values", metadata.MD{"a_b": nil, "a-b": {}}, "", false},
		{"own spelling", metadata.Pairs("a_b", "1", "a_b", "2"), "1", true},
		{"dashes", metadata.Pairs("a-b", "1"), "1", true},
		{
			"after blank values",
			metadata.Pairs("a_b", "", "a_b", " \t\u00a0", "a_b", " 1 "), " 1 ", true,
		},
		{
			"own spelling after a blank value, before dashes",
			metadata.Pairs("a-b", "2", "a_b", "", "a_b", "1"), "1", true,
		},
		{
			"dashes, if the own spelling is blank",
			metadata.Pairs("a_b", " ", "a-b", "2"), "2", true,
		},
		{"blank", metadata.Pairs("a_b", " ", "a-b", ""), "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := meta.First(tc.md, key); got != tc.want {
				t.Errorf("First = %q, want %q", got, tc.want)
			}
			if got := meta.Has(tc.md, key); got != tc.has {
				t.Errorf("Has = %t, want %t", got, tc.has)
			}
		})
	}
}

// TestIncoming also counts allocations, because the fallback of Incoming copies the map.
func TestIncoming(t *testing.T) {
	type other struct{}
	own, dashed := meta.NewKey("a_b"), meta.NewKey("c_d")
	miss := meta.NewKey("e_f")
	ctx := metadata.NewIncomingContext(t.Context(),
		metadata.Pairs("a_b", "1", "c-d", "2", "g", "3"))
	ctx = context.WithValue(ctx, other{}, 0)
	read := func() {
		md := meta.Incoming(ctx)
		if meta.First(md, own) != "1" || meta.First(md, dashed) != "2" ||
			meta.First(md, miss) != "" || meta.Has(md, miss) {
			t.Errorf("metadata = %v", md)
		}
	}
	if n := testing.AllocsPerRun(100, read); n != 0 {
		t.Errorf("allocations = %v, want 0", n)
	}
	if md := meta.Incoming(t.Context()); md != nil {
		t.Errorf("without metadata = %v", md)
	}
	if n := testing.AllocsPerRun(100, func() { meta.Incoming(context.Background()) }); n != 0 {
		t.Errorf("without metadata: allocations = %v, want 0", n)
	}
}

func BenchmarkRead(b *testing.B) {
	key := meta.NewKey(constant.MetadataRequestUUID)
	for _, tc := range []struct{ name, sent string }{
		{"own", "x_request_uuid"},
		{"dashed", "x-request-uuid"},
		{"miss", "other"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			ctx := metadata.NewIncomingContext(b.Context(),
				metadata.Pairs(tc.sent, "1", "user-agent", "x", ":authority", "y"))
			b.ReportAllocs()
			for b.Loop() {
				meta.First(meta.Incoming(ctx), key)
			}
		})
	}
}
