package leasetest

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// parts is the number of passes over the IDs, which limits the memory.
const parts = 8

// distinct fails if two IDs of the family are equal, or if there are fewer than least.
func (f *family) distinct(t *testing.T, least int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(f.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all, twice := 0, 0
	var ids, other []uint64
	for part := range parts {
		ids = ids[:0]
		for _, name := range names {
			if ids, err = appendIDs(ids, name, uint64(part)); err != nil {
				t.Fatal(err)
			}
		}
		if len(other) < len(ids) {
			other = make([]uint64, len(ids))
		}
		all += len(ids)
		twice += duplicates(ids, other[:len(ids)])
	}
	if all < least {
		t.Errorf("%d IDs were generated, want at least %d", all, least)
	}
	if twice != 0 {
		t.Errorf("%d duplicates among %d IDs", twice, all)
	}
	t.Logf("%d IDs of %d processes, %d duplicates", all, f.started, twice)
}

// appendIDs appends the IDs of a file that belong to a part. An incomplete last ID is
// ignored. It runs in one goroutine only, and the race detector would dominate the
// duration of the test.
//
//go:norace
func appendIDs(ids []uint64, name string, part uint64) ([]uint64, error) {
	file, err := os.Open(name) //nolint:gosec // a file of this test
	if err != nil {
		return ids, err
	}
	defer func() { _ = file.Close() }() // it was only read
	var buf [1 << 16]byte
	for {
		n, err := io.ReadFull(file, buf[:])
		for data := buf[:n]; len(data) >= 8; data = data[8:] {
			if id := binary.NativeEndian.Uint64(data); id%parts == part {
				ids = append(ids, id)
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return ids, nil
		case err != nil:
			return ids, err
		}
	}
}

// duplicates sorts ids and counts equal neighbors. It is a radix sort with 11 bits per
// pass. other must have the length of ids.
//
//go:norace
func duplicates(ids, other []uint64) int {
	const bits = 11
	for shift := 0; shift < 64; shift += bits {
		var starts [1<<bits + 1]int
		for _, id := range ids {
			starts[id>>shift&(1<<bits-1)+1]++
		}
		for i := range 1 << bits {
			starts[i+1] += starts[i]
		}
		for _, id := range ids {
			digit := id >> shift & (1<<bits - 1)
			other[starts[digit]] = id
			starts[digit]++
		}
		ids, other = other, ids
	}
	n := 0
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			n++
		}
	}
	return n
}
