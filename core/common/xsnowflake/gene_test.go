package xsnowflake_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

func TestGene_Values(t *testing.T) {
	for _, tc := range []struct {
		gene xsnowflake.Gene
		want uint8
	}{
		{xsnowflake.GeneDefault, 0},
		{xsnowflake.GeneSystem, 1},
		{xsnowflake.GeneUser, 2},
		{xsnowflake.GeneRole, 3},
		{xsnowflake.GeneLog, 4},
		{xsnowflake.GeneConfig, 5},
		{xsnowflake.GeneFile, 6},
		{xsnowflake.GeneSession, 7},
		{xsnowflake.GeneToken, 8},
		{xsnowflake.GeneCache, 9},
		{xsnowflake.GeneOrder, 16},
		{xsnowflake.GeneDocument, 30},
		{xsnowflake.GeneTask, 31},
	} {
		if uint8(tc.gene) != tc.want {
			t.Errorf("gene %d, want %d", tc.gene, tc.want)
		}
	}
}

func TestGeneCalculator(t *testing.T) {
	// The values come from an independent implementation. They must not change, because
	// ids contain them.
	t.Run("returns stable genes", func(t *testing.T) {
		calc := xsnowflake.CalcGene()
		for id, want := range map[xsnowflake.SnowflakeID]xsnowflake.Gene{
			0:         52,
			1:         23,
			42:        29,
			1<<63 - 1: 60,
		} {
			if got := calc.Hash(id); got != want {
				t.Errorf("Hash(%d) = %d, want %d", id, got, want)
			}
		}
		for key, want := range map[string]xsnowflake.Gene{
			"": 45, "user:1": 38, "order": 40, "商店": 13,
		} {
			if got := calc.HashString(key); got != want {
				t.Errorf("HashString(%q) = %d, want %d", key, got, want)
			}
		}
		if a, b := calc.HashMulti(1, 2), calc.HashMulti(2, 1); a != 36 || b != 23 {
			t.Errorf("HashMulti(1, 2), HashMulti(2, 1) = %d, %d, want 36, 23", a, b)
		}
		if calc.HashMulti(42) != calc.Hash(42) {
			t.Error("HashMulti of one id is not its Hash")
		}
		for key, want := range map[string]xsnowflake.Gene{
			"": 0, "123456789": 0xf4, "user:1": 0x20,
		} {
			if got := xsnowflake.KeyGene(key); got != want {
				t.Errorf("KeyGene(%q) = %#x, want %#x", key, uint8(got), uint8(want))
			}
		}
	})

	t.Run("distributes genes evenly", func(t *testing.T) {
		var count [64]int
		for i := range 64_000 {
			g := xsnowflake.CalcGene().Hash(xsnowflake.SnowflakeID(i) << 10)
			if g > 63 {
				t.Fatalf("gene %d", g)
			}
			count[g]++
		}
		for g, n := range count {
			if n < 800 || n > 1200 {
				t.Errorf("gene %d: %d of 64000, want about 1000", g, n)
			}
		}
	})
}

func FuzzGeneCalculator_HashString(f *testing.F) {
	f.Add("user:1")
	f.Fuzz(func(t *testing.T, key string) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(key))
		want := uint64(0)
		for sum := h.Sum64(); sum != 0; sum >>= 6 {
			want ^= sum & 63
		}
		if got := xsnowflake.CalcGene().HashString(key); uint64(got) != want {
			t.Errorf("HashString(%q) = %d, want %d", key, got, want)
		}
	})
}

func ExampleCalcGene() {
	user := xsnowflake.SnowflakeID(58102854968192777)
	// All orders of one user get the same gene, and so the same shard of 64.
	fmt.Println(uint8(xsnowflake.CalcGene().Hash(user)))
	fmt.Println(uint8(xsnowflake.CalcGene().HashString("tenant-7")))
	// Output:
	// 62
	// 37
}
