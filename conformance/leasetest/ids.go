package leasetest

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// parts is the number of passes over the IDs. Several passes limit the memory.
const parts = 8

// wantDistinct fails the test if two IDs of the group are equal, or if the group has
// fewer than least.
func (g *processGroup) wantDistinct(t *testing.T, least int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(g.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all, equal := 0, 0
	var ids, buffer []uint64
	for part := range parts {
		ids = ids[:0]
		for _, name := range names {
			if ids, err = appendIDs(ids, name, uint64(part)); err != nil {
				t.Fatal(err)
			}
		}
		if len(buffer) < len(ids) {
			buffer = make([]uint64, len(ids))
		}
		all += len(ids)
		equal += duplicates(ids, buffer[:len(ids)])
	}
	if all < least {
		t.Errorf("%d IDs were generated, want at least %d", all, least)
	}
	if equal != 0 {
		t.Errorf("%d duplicates among %d IDs", equal, all)
	}
	t.Logf("%d IDs of %d processes, %d duplicates", all, g.started, equal)
}

// appendIDs appends the IDs of a file that belong to a part. It ignores an incomplete
// last ID. The race detector is disabled, because it would dominate the duration of the
// test and appendIDs runs in one goroutine.
//
//go:norace
func appendIDs(ids []uint64, name string, part uint64) ([]uint64, error) {
	file, err := os.Open(name) //nolint:gosec // a file of this test
	if err != nil {
		return ids, err
	}
	defer func() { _ = file.Close() }()
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

// duplicates sorts ids and counts equal neighbors. It uses a radix sort with 11 bits per
// pass. The buffer must have the length of ids.
//
//go:norace
func duplicates(ids, buffer []uint64) int {
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
			buffer[starts[digit]] = id
			starts[digit]++
		}
		ids, buffer = buffer, ids
	}
	n := 0
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			n++
		}
	}
	return n
}
