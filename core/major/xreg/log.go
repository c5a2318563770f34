package xreg

import (
	"errors"
	"fmt"
	"sync"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/internal/startup"
)

// openLog creates the default logger of the process from the environment and p, unless p
// has a logger. closeLog restores the previous default and closes the files.
func (r *Reg) openLog(p *startup.Plan) error {
	if p.Logger != nil {
		return nil
	}
	// invalid values are replaced with their defaults, so that all problems can be logged
	config, problems := xlog.ConfigFromEnv()
	for _, change := range p.LogConfig {
		change(&config)
	}
	engine, err := xlog.New(config)
	if err != nil {
		return errors.Join(problems, fmt.Errorf("xreg: log: %w", err))
	}
	restore := xlog.SetDefault(engine)
	r.closeLog = sync.OnceValue(func() error {
		restore()
		if err := engine.Close(); err != nil {
			return fmt.Errorf("xreg: close the log: %w", err)
		}
		return nil
	})
	return problems
}
