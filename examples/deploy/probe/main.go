// Command probe asks one URL and exits with 0 where the answer is 200. It is the health
// check of a container without a shell.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"
)

// limit is how long an answer may take.
const limit = 2 * time.Second

func main() {
	if err := ask(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func ask(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one URL, got %d arguments", len(args))
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], http.NoBody) //nolint:gosec // the URL is what the operator asks for
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
		return fmt.Errorf("%s answers %s", args[0], response.Status)
	}
	return nil
}
