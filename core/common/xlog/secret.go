package xlog

import "github.com/plinthgo/plinth/core/defined/xenv"

// Secret is xenv.Secret: a string that no log line, error text or JSON document shows.
type Secret = xenv.Secret
