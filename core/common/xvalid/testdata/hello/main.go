// Command hello installs the validator and does not use it.
package main

import (
	"os"

	"github.com/plinthgo/plinth/core/common/xvalid"
)

func main() {
	var installed any = xvalid.GinBinding{}
	if len(os.Args) > 5 {
		_, _ = os.Stdout.WriteString("installed")
	}
	_ = installed
}
