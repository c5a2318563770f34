package xsnowflake_test

import (
	"sync/atomic"
	"testing"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
)

func BenchmarkGenerateBelowTheLimit(b *testing.B) {
	n := newNode(b)
	b.ReportAllocs()
	var g xSnowflake.Gene
	for b.Loop() {
		if _, err := n.Generate(g); err != nil {
			b.Fatal(err)
		}
		g = (g + 1) & 63
	}
}

func BenchmarkGenerateManyGenesParallel(b *testing.B) {
	n := newNode(b)
	b.ReportAllocs()
	var workers atomic.Uint32
	b.RunParallel(func(pb *testing.PB) {
		g := xSnowflake.Gene(workers.Add(1) * 32 & 63)
		for pb.Next() {
			if _, err := n.Generate(g); err != nil {
				b.Error(err)
			}
			g = (g + 1) & 63
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mids/s")
}

func BenchmarkNextN(b *testing.B) {
	n := newNode(b)
	b.ReportAllocs()
	dst := make([]xSnowflake.SnowflakeID, 16)
	var g xSnowflake.Gene
	for b.Loop() {
		if err := n.NextN(dst, g); err != nil {
			b.Fatal(err)
		}
		g = (g + 1) & 63
	}
}

func newNode(tb testing.TB, opts ...xSnowflake.Option) *xSnowflake.Node {
	tb.Helper()
	n, err := xSnowflake.NewNode(append([]xSnowflake.Option{xSnowflake.WithNodeID(5), xSnowflake.WithDatacenterID(3)}, opts...)...)
	if err != nil {
		tb.Fatalf("NewNode: %v", err)
	}
	tb.Cleanup(func() {
		if err := n.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return n
}
