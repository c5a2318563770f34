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

// loadEnvFiles reads the plan's files into the environment: by default .env, if it
// exists. An error says where a file is wrong, and not what it contains there; the rest
// of the file is read all the same, so that it can be checked too.
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
		text, err := os.ReadFile(name) //nolint:gosec // the path is the application's own
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
