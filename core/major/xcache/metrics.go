package xcache

import "time"

// Event is one completed operation.
type Event struct {
	// View is the name of the view, set by WithName.
	View string
	// Op is the operation, with the same names for all views: "get", "set", "exists",
	// "delete", "ttl", "read" (several fields, members or elements), "remove" (of these),
	// "pop", "load" (one call of a loader), "scan" (one iteration over keys) and "clear".
	Op string
	// Outcome is "hit" or "miss" for a read or a load, and "done" for a write that took
	// effect. It is "skipped" if NX or XX prevented a write or if there was nothing to
	// remove, and "failed" after an error.
	Outcome string
	Latency time.Duration
	// Near reports whether the near cache served the value without the backend.
	Near bool
	// Err is nil if the operation succeeded.
	Err error
}

const (
	opGet    = "get"
	opSet    = "set"
	opExists = "exists"
	opDelete = "delete"
	opTTL    = "ttl"
	opRead   = "read"
	opRemove = "remove"
	opPop    = "pop"
	opLoad   = "load"
	opScan   = "scan"
	opClear  = "clear"
)

// outcome returns the outcome of an operation. ok reports whether it found a value or
// took effect.
func outcome(kind string, ok bool, err error) string {
	if err != nil {
		return "failed"
	}
	switch kind {
	case opSet, opDelete, opRemove, opClear:
		if ok {
			return "done"
		}
		return "skipped"
	}
	if ok {
		return "hit"
	}
	return "miss"
}
