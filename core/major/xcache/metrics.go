package xcache

import "time"

// Event is one operation that has ended.
type Event struct {
	// View is the name of the view, as WithName gave it.
	View string
	// Op names the operation, the same for all views: "get", "set", "exists", "delete",
	// "ttl", "read" (several fields, members or elements), "remove" (of them), "pop",
	// "load" (one run of a loader), "scan" (one walk through keys) and "clear".
	Op string
	// Outcome is "hit" or "miss" of a read or a load, "done" of a write that took effect,
	// "skipped" of a write that NX or XX held back or that found nothing to remove, or
	// "failed".
	Outcome string
	Latency time.Duration
	// Near says that a hit came out of the near cache, without the backend.
	Near bool
	// Err is nil unless the operation has failed.
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

// outcome returns how an operation has ended. ok says that it found something, or took
// effect.
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
