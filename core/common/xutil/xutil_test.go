package xutil_test

import (
	"fmt"
	"testing"

	xUtil "github.com/plinthgo/plinth/core/common/xutil"
)

func TestPtrAndVal(t *testing.T) {
	ptr := xUtil.Ptr[int]
	p := ptr(7)
	if *p != 7 || xUtil.Val(p) != 7 || xUtil.Val[string](nil) != "" {
		t.Errorf("Ptr, Val = %d, %d, %q", *p, xUtil.Val(p), xUtil.Val[string](nil))
	}
	if !xUtil.Contains([]string{"a", "b"}, "b") || xUtil.Contains([]string{"a"}, "b") || xUtil.Contains(nil, 1) {
		t.Error("Contains is wrong")
	}
}

func TestToBool(t *testing.T) {
	for _, s := range []string{"true", "TRUE", "t", "1", "yes", "Y", "on", " on\n"} {
		if !xUtil.ToBool(s) || !xUtil.ToBool(s, false) {
			t.Errorf("ToBool(%q) = false", s)
		}
	}
	for _, s := range []string{"false", "F", "0", "no", "n", "OFF"} {
		if xUtil.ToBool(s) || xUtil.ToBool(s, true) {
			t.Errorf("ToBool(%q) = true", s)
		}
	}
	for _, s := range []string{"", "2", "ja", "truee"} {
		if xUtil.ToBool(s) || !xUtil.ToBool(s, true) {
			t.Errorf("ToBool(%q) is not the default", s)
		}
	}
}

func Example() {
	fmt.Println(xUtil.Val(new(3)), xUtil.ToBool("on"), xUtil.Contains([]int{1, 2}, 2))
	// Output: 3 true true
}
