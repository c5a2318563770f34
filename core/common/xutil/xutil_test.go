package xutil_test

import (
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/core/common/xutil"
)

func TestVal(t *testing.T) {
	ptr := xutil.Ptr[int]
	p := ptr(7)
	if *p != 7 || xutil.Val(p) != 7 || xutil.Val[string](nil) != "" {
		t.Errorf("Ptr, Val = %d, %d, %q", *p, xutil.Val(p), xutil.Val[string](nil))
	}
	if !xutil.Contains([]string{"a", "b"}, "b") || xutil.Contains([]string{"a"}, "b") ||
		xutil.Contains(nil, 1) {
		t.Error("Contains returns an incorrect result")
	}
}

func TestToBool(t *testing.T) {
	for _, s := range []string{"true", "TRUE", "t", "1", "yes", "Y", "on", " on\n"} {
		if !xutil.ToBool(s) || !xutil.ToBool(s, false) {
			t.Errorf("ToBool(%q) = false", s)
		}
	}
	for _, s := range []string{"false", "F", "0", "no", "n", "OFF"} {
		if xutil.ToBool(s) || xutil.ToBool(s, true) {
			t.Errorf("ToBool(%q) = true", s)
		}
	}
	for _, s := range []string{"", "2", "ja", "truee"} {
		if xutil.ToBool(s) || !xutil.ToBool(s, true) {
			t.Errorf("ToBool(%q) does not return the default", s)
		}
	}
}

func Example() {
	fmt.Println(xutil.Val(new(3)), xutil.ToBool("on"), xutil.Contains([]int{1, 2}, 2))
	// Output: 3 true true
}
