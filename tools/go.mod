module github.com/plinthgo/plinth/tools

go 1.25.0

require (
	github.com/plinthgo/plinth/core v0.1.0
	golang.org/x/mod v0.38.0
)
