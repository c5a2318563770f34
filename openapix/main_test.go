package openapix_test

import (
	"os"
	"testing"
)

func runMain(m *testing.M) { os.Exit(m.Run()) }
