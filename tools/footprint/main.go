// Footprint builds the smallest program of each module and prints its size and the number of modules
// that it links, with plain gin beside it, and grpc-go alone beside grpcx.
//
//	footprint          print the table
//	footprint -check   and fail where core is over its budget, or a program links a driver that it does not import
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
	check := flag.Bool("check", false, "fail where core is over its budget")
	flag.Parse()
	sizes, err := measure(context.Background())
	if err == nil {
		fmt.Fprint(os.Stdout, sizes.Table())
	}
	if err == nil && *check {
		err = sizes.Check()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "footprint:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context) (footprint.Sizes, error) {
	root, err := workspace.Find()
	if err != nil {
		return nil, err
	}
	return footprint.Measure(ctx, root)
}
