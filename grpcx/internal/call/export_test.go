package call

// Incoming is incoming, for the tests.
var Incoming = incoming
