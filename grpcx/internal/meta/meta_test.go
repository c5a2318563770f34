package meta_test

import (
	"context"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/internal/meta"
)

func TestAKeyIsSpelledInLowerCase(t *testing.T) {
	for _, tt := range []struct {
		key  constant.Metadata
		want meta.Spellings
	}{
		{"x_request_uuid", meta.Spellings{"x_request_uuid", "x-request-uuid"}},
		{"accept-language", meta.Spellings{"accept-language", "accept-language"}},
		{"X-Tenant", meta.Spellings{"x-tenant", "x-tenant"}},
		{"Shop_Tenant", meta.Spellings{"shop_tenant", "shop-tenant"}},
	} {
		if got := meta.Spell(tt.key); got != tt.want {
			t.Errorf("Spell(%q) = %q, want %q", tt.key, got, tt.want)
		}
	}
}

func TestFirstIsTheFirstValueThatIsNotBlankAsSent(t *testing.T) {
	key := meta.Spell("a_b")
	for _, tt := range []struct {
		name  string
		md    metadata.MD
		want  string
		holds bool
	}{
		{"no metadata", nil, "", false},
		{"another key", metadata.Pairs("a", "1"), "", false},
		{"a key without values", metadata.MD{"a_b": nil, "a-b": {}}, "", false},
		{"its own", metadata.Pairs("a_b", "1", "a_b", "2"), "1", true},
		{"with dashes", metadata.Pairs("a-b", "1"), "1", true},
		{
			"after blank ones", metadata.Pairs("a_b", "", "a_b", " \t\u00a0", "a_b", " 1 "), " 1 ",
			true,
		},
		{
			"its own after a blank one, before dashes",
			metadata.Pairs("a-b", "2", "a_b", "", "a_b", "1"), "1", true,
		},
		{"with dashes beside a blank one", metadata.Pairs("a_b", " ", "a-b", "2"), "2", true},
		{"blank", metadata.Pairs("a_b", " ", "a-b", ""), "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := meta.First(tt.md, key); got != tt.want {
				t.Errorf("First = %q, want %q", got, tt.want)
			}
			if got := meta.Holds(tt.md, key); got != tt.holds {
				t.Errorf("Holds = %t, want %t", got, tt.holds)
			}
		})
	}
}

// TestMetadataIsReadWhereItLies holds what Incoming knows of package metadata: with the
// fallback alone, a hit would cost a copy of everything.
func TestMetadataIsReadWhereItLies(t *testing.T) {
	type other struct{}
	own, dashed := meta.Spell("a_b"), meta.Spell("c_d")
	miss := meta.Spell("e_f")
	ctx := metadata.NewIncomingContext(t.Context(),
		metadata.Pairs("a_b", "1", "c-d", "2", "g", "3"))
	ctx = context.WithValue(ctx, other{}, 0)
	read := func() {
		md := meta.Incoming(ctx)
		if meta.First(md, own) != "1" || meta.First(md, dashed) != "2" ||
			meta.First(md, miss) != "" || meta.Holds(md, miss) {
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
	key := meta.Spell(constant.MetadataRequestUUID)
	for _, tt := range []struct{ name, sent string }{
		{"own", "x_request_uuid"},
		{"dashed", "x-request-uuid"},
		{"miss", "other"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			ctx := metadata.NewIncomingContext(b.Context(),
				metadata.Pairs(tt.sent, "1", "user-agent", "x", ":authority", "y"))
			b.ReportAllocs()
			for b.Loop() {
				meta.First(meta.Incoming(ctx), key)
			}
		})
	}
}
