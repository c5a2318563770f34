package xreg

import (
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// logs is the logger that the application has set up; the zero value is none.
type logs struct {
	engine  *xlog.Engine
	restore func()
}

// openLog makes the process's default logger from environment and plan, unless the plan brings its own.
func (r *Reg) openLog() error {
	if r.plan.Logger != nil {
		return nil
	}
	config, problems := xlog.ConfigFromEnv() // each a default in place of what is wrong, so that all can be logged
	for _, change := range r.plan.LogConfig {
		change(&config)
	}
	engine, err := xlog.New(config)
	if err != nil {
		return errors.Join(problems, fmt.Errorf("xreg: log: %w", err))
	}
	r.logs = logs{engine: engine, restore: xlog.SetDefault(engine)}
	return problems
}

// close gives the default logger back and closes the files.
func (l *logs) close() error {
	if l.engine == nil {
		return nil
	}
	l.restore()
	err := l.engine.Close()
	l.engine = nil
	if err != nil {
		return fmt.Errorf("xreg: close of the log: %w", err)
	}
	return nil
}
