// Program conformance prints the checks of the conformance suite for cache backends.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/plinthgo/plinth/conformance/cachetest"
)

func main() { fmt.Fprintln(os.Stdout, strings.Join(cachetest.Checks(), "\n")) }
