package xsnowflake

import (
	"encoding/binary"
	"hash/fnv"
)

// GeneCalculator derives genes; get one with CalcGene.
type GeneCalculator struct{}

// CalcGene returns the calculator of genes.
//
// A derived gene is for co-location: ids that share a business key (the orders of one
// user) get the same gene, which then selects a shard. It is therefore spread evenly over
// the whole range of 0 to 63 and says nothing of a kind. The results never change between
// versions: they are stored in ids.
func CalcGene() GeneCalculator { return GeneCalculator{} }

// Hash derives a gene from an id.
func (c GeneCalculator) Hash(id SnowflakeID) Gene { return c.HashMulti(id) }

// HashMulti derives a gene from several ids; their order counts.
func (GeneCalculator) HashMulti(ids ...SnowflakeID) Gene {
	data := make([]byte, 0, 64)
	for _, id := range ids {
		data = binary.BigEndian.AppendUint64(data, uint64(id)) // the same 64 bits
	}
	return hash(data)
}

// HashString derives a gene from the bytes of a business key.
func (GeneCalculator) HashString(key string) Gene { return hash([]byte(key)) }

// hash makes 6 bits of a hash of 64 by exclusive or, so that every bit of that has a part
// in them.
func hash(data []byte) Gene {
	sum := fnv.New64a()
	_, _ = sum.Write(data) // it does not fail
	var g Gene
	for h := sum.Sum64(); h != 0; h >>= 6 {
		g ^= Gene(h & 63)
	}
	return g
}

// KeyGene is the gene of a business key in LayoutJavaGene: its CRC-8 with the polynomial
// x^8 + x^2 + x + 1, initial value 0, not reflected (CRC-8/SMBUS).
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
