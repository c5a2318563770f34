package xlog

import "github.com/plinthgo/plinth/core/defined/xenv"

// Secret is xenv.Secret: a string that log lines, error messages and JSON mask.
type Secret = xenv.Secret
