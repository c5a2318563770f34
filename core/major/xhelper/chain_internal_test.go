package xhelper

import "testing"

// With other fields, chain.go falls back to what gin's methods tell, which is less.
func TestFieldOf(t *testing.T) {
	if !hasIndex || !hasHandlers {
		t.Errorf("fields of gin.Context: index %t, handlers %t, want both", hasIndex, hasHandlers)
	}
}
