// Command probe sends a GET request to a URL and exits with 0 if the status is 200. It is
// a health check for containers without a shell.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"
)

// timeout limits the whole request.
const timeout = 2 * time.Second

func main() {
	if err := check(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func check(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one URL, got %d arguments", len(args))
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], http.NoBody) //nolint:gosec // the operator chooses the URL
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request) //nolint:gosec // as above
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %s", args[0], response.Status)
	}
	return nil
}
