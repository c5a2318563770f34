package xsnowflake

import (
	"encoding/binary"
	"hash/fnv"
)

// GeneCalculator derives genes. CalcGene returns it.
type GeneCalculator struct{}

// CalcGene returns the gene calculator.
//
// Derived genes co-locate data: ids with the same business key, such as the orders of one
// user, have the same gene, which selects a shard. Derived genes are evenly distributed
// over 0 to 63 and do not denote a kind. The results are stable across versions, because
// ids contain them.
func CalcGene() GeneCalculator { return GeneCalculator{} }

// Hash derives a gene from an id.
func (c GeneCalculator) Hash(id SnowflakeID) Gene { return c.HashMulti(id) }

// HashMulti derives a gene from several ids. Their order matters.
func (GeneCalculator) HashMulti(ids ...SnowflakeID) Gene {
	data := make([]byte, 0, 64)
	for _, id := range ids {
		data = binary.BigEndian.AppendUint64(data, uint64(id)) // the same 64 bits
	}
	return hash(data)
}

// HashString derives a gene from the bytes of a business key.
func (GeneCalculator) HashString(key string) Gene { return hash([]byte(key)) }

// hash folds a 64-bit hash to 6 bits with exclusive or.
func hash(data []byte) Gene {
	sum := fnv.New64a()
	_, _ = sum.Write(data) // Write does not fail
	var g Gene
	for h := sum.Sum64(); h != 0; h >>= 6 {
		g ^= Gene(h & 63)
	}
	return g
}

// KeyGene returns the gene of a business key in LayoutJavaGene: its CRC-8 with the
// polynomial x^8 + x^2 + x + 1 and initial value 0, not reflected (CRC-8/SMBUS).
func KeyGene(key string) Gene {
	var crc uint8
	for i := range len(key) {
		crc ^= key[i]
		for range 8 {
			carry := crc >> 7
			crc = crc<<1 ^ carry*0x07
		}
	}
	return Gene(crc)
}
