package xreg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/plinthgo/plinth/core/common/xdotenv"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
)

// loadEnvFiles loads the environment files of p, by default .env if it exists. Errors
// contain the line number but not the line. It applies the valid lines of a file with
// errors, so that their values are checked too.
func loadEnvFiles(p *startup.Plan) error {
	if p.NoEnvFile {
		return nil
	}
	files, optional := p.EnvFiles, false
	if len(files) == 0 {
		files, optional = []string{".env"}, true
	}
	var errs []error
	for _, name := range files {
		text, err := os.ReadFile(name) //nolint:gosec // the application sets the path
		if optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("xreg: environment file: %w", err))
			continue
		}
		values, bad := xdotenv.Parse(string(text))
		for _, line := range bad {
			errs = append(errs,
				fmt.Errorf("xreg: environment file: %s: line %d is not NAME=value", name, line))
		}
		errs = append(errs, xenv.Apply(values))
	}
	return errors.Join(errs...)
}
