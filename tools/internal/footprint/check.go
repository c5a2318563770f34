package footprint

import (
	"context"
	"errors"
	"fmt"
)

// Limits of what core adds to gin.
const (
	budgetBytes   = 3_000_000
	budgetModules = 15
)

// Check returns an error if core exceeds its limits over gin. It builds these two
// programs.
func Check(ctx context.Context, root string) error {
	sizes, err := measure(ctx, root, programs[:2])
	if err != nil {
		return err
	}
	return budget(sizes["gin"], sizes["core"])
}

// budget returns an error if core exceeds its limits.
func budget(gin, core measured) error {
	var problems []error
	if excess := core.bytes - gin.bytes; excess > budgetBytes {
		problems = append(problems, fmt.Errorf("core is %.2f MB over gin; the limit is %.1f MB",
			mb(excess), mb(budgetBytes)))
	}
	if excess := core.modules - gin.modules; excess > budgetModules {
		problems = append(problems, fmt.Errorf(
			"core links %d modules more than gin; the limit is %d", excess, budgetModules))
	}
	return errors.Join(problems...)
}
