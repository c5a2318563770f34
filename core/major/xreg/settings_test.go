package xreg_test

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

func TestReg_Settings_DrainDelay(t *testing.T) {
	for _, tc := range []struct {
		name     string
		terminal bool
		env      string
		opt      xoption.Option
		want     time.Duration
	}{
		{name: "default", want: 5 * time.Second},
		{name: "debug mode", opt: xoption.WithDebug(true), want: 0},
		{name: "terminal", terminal: true, want: 0},
		{name: "variable at a terminal", terminal: true, env: "3s", want: 3 * time.Second},
		{
			name:     "option at a terminal",
			terminal: true, opt: xoption.WithDrainDelay(time.Second), want: time.Second,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer xreg.SetTerminal(tc.terminal)()
			if tc.env != "" {
				t.Setenv("PLINTH_DRAIN_DELAY", tc.env)
			}
			reg, _ := start(t, nil, xoption.WithOptions(tc.opt))
			if got := reg.Settings().DrainDelay; got != tc.want {
				t.Errorf("DrainDelay = %s, want %s", got, tc.want)
			}
		})
	}
}
