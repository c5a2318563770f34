// Plinth is the command line tool of the Plinth framework. It creates services, extends
// them and diagnoses problems.
//
//	go install github.com/plinthgo/plinth/tools/plinth@latest
//
//	plinth new example.com/shop   create a service
//	plinth env                    list every variable, its value and its source
//	plinth doctor                 report every problem that prevents startup
//	plinth openapi                write the OpenAPI document, or check it
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

// gomod lists the module versions that this program was built with. New services use the
// same versions.
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
	context.AfterFunc(ctx, stop) // a second signal exits at once
	code := cli.Run(ctx, term.New(os.Stdin, os.Stdout, os.Stderr), versions, os.Args[1:])
	stop()
	os.Exit(code)
}
