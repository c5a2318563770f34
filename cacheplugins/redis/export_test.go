package redis

// ErrUnconfirmed is the error of a lease that no replica has confirmed in time.
var ErrUnconfirmed = errUnconfirmed
