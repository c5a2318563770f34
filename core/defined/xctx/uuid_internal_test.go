package xctx

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

func TestPutUUID(t *testing.T) {
	for range 1000 {
		hi, lo := rand.Uint64(), rand.Uint64()
		var got, want [idLen]byte
		putUUID(&got, hi, lo)
		putUUIDByHex(&want, hi, lo)
		if got != want {
			t.Fatalf("putUUID(%x, %x) = %s, want %s", hi, lo, got, want)
		}
	}
}

// putUUIDByHex is the reference implementation of putUUID.
func putUUIDByHex(dst *[idLen]byte, hi, lo uint64) {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], hi)
	binary.BigEndian.PutUint64(id[8:], lo)
	id[6] = id[6]&0x0f | 4<<4
	id[8] = id[8]&0x3f | 0b10<<6
	hex.Encode(dst[0:8], id[0:4])
	hex.Encode(dst[9:13], id[4:6])
	hex.Encode(dst[14:18], id[6:8])
	hex.Encode(dst[19:23], id[8:10])
	hex.Encode(dst[24:36], id[10:16])
	dst[8], dst[13], dst[18], dst[23] = '-', '-', '-', '-'
}

// BenchmarkGenerateID compares GenerateID with an implementation that uses package hex.
func BenchmarkGenerateID(b *testing.B) {
	var r Request
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			r.GenerateID()
		}
	})
	b.Run("hex", func(b *testing.B) {
		for b.Loop() {
			putUUIDByHex(&r.buf, rand.Uint64(), rand.Uint64())
		}
	})
}
