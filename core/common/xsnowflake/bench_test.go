package xsnowflake_test

import (
	"sync/atomic"
	"testing"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

func BenchmarkNode_Generate(b *testing.B) {
	n := newNode(b)
	b.ReportAllocs()
	var g xsnowflake.Gene
	for b.Loop() {
		if _, err := n.Generate(g); err != nil {
			b.Fatal(err)
		}
		g = (g + 1) & 63
	}
}

func BenchmarkNode_Generate_Parallel(b *testing.B) {
	n := newNode(b)
	b.ReportAllocs()
	var workers atomic.Uint32
	b.RunParallel(func(pb *testing.PB) {
		g := xsnowflake.Gene(workers.Add(1) * 32 & 63)
		for pb.Next() {
			if _, err := n.Generate(g); err != nil {
				b.Error(err)
			}
			g = (g + 1) & 63
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mids/s")
}

func BenchmarkNode_NextN(b *testing.B) {
	n := newNode(b)
	b.ReportAllocs()
	dst := make([]xsnowflake.SnowflakeID, 16)
	var g xsnowflake.Gene
	for b.Loop() {
		if err := n.NextN(dst, g); err != nil {
			b.Fatal(err)
		}
		g = (g + 1) & 63
	}
}

func newNode(tb testing.TB, opts ...xsnowflake.Option) *xsnowflake.Node {
	tb.Helper()
	n, err := xsnowflake.NewNode(append([]xsnowflake.Option{
		xsnowflake.WithNodeID(5), xsnowflake.WithDatacenterID(3),
	}, opts...)...)
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
