// Footprint builds the smallest program of each module and prints its size and the number
// of modules that it links. It compares them with gin, and grpcx with grpc-go.
//
//	footprint          print the table
//	footprint -check   fail if core exceeds its limits over gin; builds two programs only
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/plinthgo/plinth/tools/internal/footprint"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func main() {
	check := flag.Bool("check", false, "fail if core exceeds its limits over gin")
	flag.Parse()
	do := show
	if *check {
		do = footprint.Check
	}
	root, err := workspace.Find()
	if err == nil {
		err = do(context.Background(), root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "footprint:", err)
		os.Exit(1)
	}
}

// show prints the table of all programs.
func show(ctx context.Context, root string) error {
	sizes, err := footprint.Measure(ctx, root)
	if err != nil {
		return err
	}
	fmt.Fprint(os.Stdout, sizes.Table())
	return nil
}
