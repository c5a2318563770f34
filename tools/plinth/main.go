// Plinth is the command line of the base: it begins a service, extends it, and says what
// is wrong with it.
//
//	go install github.com/plinthgo/plinth/tools/plinth@latest
//
//	plinth new example.com/shop   begin a service
//	plinth env                    every variable, its value, and where that comes from
//	plinth doctor                 everything that keeps the service from starting, at once
//	plinth help
package main

import (
	"context"
	_ "embed" // go.mod
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/plinthgo/plinth/tools/plinth/internal/cli"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// gomod has the versions of the modules that this program was built with; new services
// begin with them.
//
//go:embed go.mod
var gomod []byte

func main() {
	versions, err := scaffold.ReadVersions(gomod)
	if err != nil {
		fmt.Fprintln(os.Stderr, "plinth:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := cli.Run(ctx, term.New(os.Stdin, os.Stdout, os.Stderr), versions, os.Args[1:])
	stop()
	os.Exit(code)
}
