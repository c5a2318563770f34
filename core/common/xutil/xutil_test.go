package xutil_test

import (
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/core/common/xutil"
)

func TestVal(t *testing.T) {
	if xutil.Val(new(7)) != 7 || xutil.Val[string](nil) != "" {
		t.Errorf("Val = %d, %q", xutil.Val(new(7)), xutil.Val[string](nil))
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
			t.Errorf("ToBool(%q) is not the default", s)
		}
	}
}

func Example() {
	fmt.Println(xutil.Val(new(3)), xutil.ToBool("on"))
	// Output: 3 true
}
