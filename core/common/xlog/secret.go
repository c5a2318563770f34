package xlog

import "github.com/plinthgo/plinth/core/defined/xenv"

// Secret is xenv.Secret: a string that is masked in log lines, error messages and JSON.
type Secret = xenv.Secret
