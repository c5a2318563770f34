package xreg

import (
	"errors"
	"fmt"
	"sync"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/internal/startup"
)

// openLog makes the process's default logger from environment and plan, unless the plan
// brings its own. closeLog gives the former default back and closes the files.
func (r *Reg) openLog(p *startup.Plan) error {
	if p.Logger != nil {
		return nil
	}
	// each a default in place of what is wrong, so that all can be logged
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
			return fmt.Errorf("xreg: close of the log: %w", err)
		}
		return nil
	})
	return problems
}
