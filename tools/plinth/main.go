// Plinth is the command line of the base: it begins a service, extends it, and says what is wrong with it.
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
	"os"
	"os/signal"
	"syscall"

	"github.com/plinthgo/plinth/tools/plinth/internal/cli"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := cli.Run(ctx, term.New(os.Stdin, os.Stdout, os.Stderr), os.Args[1:])
	stop()
	os.Exit(code)
}
