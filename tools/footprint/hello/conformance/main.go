// Program conformance prints the checks that a cache backend is held to.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/plinthgo/plinth/conformance/cachetest"
)

func main() { fmt.Fprintln(os.Stdout, strings.Join(cachetest.Checks(), "\n")) }
