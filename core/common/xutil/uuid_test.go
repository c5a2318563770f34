package xutil_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/plinthgo/plinth/core/common/xutil"
)

func TestUUIDs_V7(t *testing.T) {
	u := xutil.UUID()
	last := ""
	for range 1000 {
		v4, v7 := u.V4(), u.V7()
		if a := uuid.MustParse(v4); a.Version() != 4 || a.Variant() != uuid.RFC4122 {
			t.Fatalf("V4 = %s", v4)
		}
		b := uuid.MustParse(v7)
		if b.Version() != 7 || b.Variant() != uuid.RFC4122 || v7 <= last {
			t.Fatalf("V7 = %s after %s", v7, last)
		}
		if sec, nsec := b.Time().UnixTime(); time.Since(time.Unix(sec, nsec)).Abs() > time.Minute {
			t.Fatalf("V7 = %s does not have the current time", v7)
		}
		last = v7
	}
}

// The expected values are those of java.util.UUID.nameUUIDFromBytes.
func TestUUIDs_FromBytes(t *testing.T) {
	u := xutil.UUID()
	got, want := u.FromBytes([]byte("hello")), "5d41402a-bc4b-3a76-b971-9d911017c592"
	if got != want {
		t.Errorf("FromBytes = %s, want %s", got, want)
	}
	if got, want := u.FromBytes(nil), "d41d8cd9-8f00-3204-a980-0998ecf8427e"; got != want {
		t.Errorf("FromBytes(nil) = %s, want %s", got, want)
	}
}

func TestUUIDs_WithDashes(t *testing.T) {
	u := xutil.UUID()
	const dashed, plain = "5d41402a-bc4b-3a76-b971-9d911017c592", "5d41402abc4b3a76b9719d911017c592"
	for _, in := range []string{dashed, plain, strings.ToUpper(dashed)} {
		if got, err := u.WithoutDashes(in); got != plain || err != nil {
			t.Errorf("WithoutDashes(%s) = %s, %v", in, got, err)
		}
		if got, err := u.WithDashes(in); got != dashed || err != nil {
			t.Errorf("WithDashes(%s) = %s, %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", "x", plain[1:], plain + "0", "{" + dashed + "}", "urn:uuid:" + dashed,
		strings.ReplaceAll(dashed, "-", "_"), strings.Repeat("g", 32),
	} {
		_, err1 := u.WithoutDashes(in)
		_, err2 := u.WithDashes(in)
		for _, err := range []error{err1, err2} {
			if !errors.Is(err, xutil.ErrParse) {
				t.Errorf("%q: %v, want ErrParse", in, err)
			}
		}
	}
}

func ExampleUUID() {
	plain, err := xutil.UUID().WithoutDashes(xutil.UUID().FromBytes([]byte("hello")))
	fmt.Println(plain, err)
	// Output: 5d41402abc4b3a76b9719d911017c592 <nil>
}
