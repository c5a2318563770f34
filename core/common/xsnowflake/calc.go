package xsnowflake

import "encoding/binary"

// GeneCalculator derives genes; get one with CalcGene.
type GeneCalculator struct{}

// CalcGene returns the calculator of genes.
//
// A derived gene is for co-location: ids that share a business key (the orders of one user) get the
// same gene, which then selects a shard. It is therefore spread evenly over the whole range of 0 to 63
// and says nothing of a kind. The results never change between versions: they are stored in ids.
func CalcGene() GeneCalculator { return GeneCalculator{} }

// Hash derives a gene from an id.
func (GeneCalculator) Hash(id SnowflakeID) Gene { return fold(hashID(fnvOffset, id)) }

// HashMulti derives a gene from several ids; their order counts.
func (GeneCalculator) HashMulti(ids ...SnowflakeID) Gene {
	h := uint64(fnvOffset)
	for _, id := range ids {
		h = hashID(h, id)
	}
	return fold(h)
}

// HashString derives a gene from the bytes of a business key.
func (GeneCalculator) HashString(key string) Gene { return fold(hashBytes(fnvOffset, key)) }

// The FNV-1a hash of 64 bits, as in hash/fnv.
const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

func hashBytes[T string | []byte](h uint64, data T) uint64 {
	for i := range len(data) {
		h = (h ^ uint64(data[i])) * fnvPrime
	}
	return h
}

func hashID(h uint64, id SnowflakeID) uint64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(id)) // the same 64 bits
	return hashBytes(h, b[:])
}

// fold makes 6 bits of 64 by exclusive or, so that every bit of the hash has a part in them.
func fold(h uint64) Gene {
	var g Gene
	for ; h != 0; h >>= 6 {
		g ^= Gene(h & uint64(GeneMax))
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
