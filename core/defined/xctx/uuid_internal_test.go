package xctx

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

func TestTheDigitsOfAnIDAreThoseOfItsBits(t *testing.T) {
	for range 1000 {
		hi, lo := rand.Uint64(), rand.Uint64()
		var got [idLen]byte
		putUUID(&got, hi, lo)

		raw := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, hi), lo)
		raw[6] = raw[6]&0x0f | 0x40
		raw[8] = raw[8]&0x3f | 0x80
		text := hex.EncodeToString(raw)
		if want := text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]; string(got[:]) != want {
			t.Fatalf("putUUID(%x, %x) = %s, want %s", hi, lo, got, want)
		}
	}
}
