module github.com/plinthgo/plinth/openapix

go 1.26.0

require (
	github.com/gin-gonic/gin v1.12.0
	github.com/plinthgo/plinth/core v0.1.0
	github.com/google/go-cmp v0.7.0
	github.com/google/uuid v1.6.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/getkin/kin-openapi v0.153.0
	go.uber.org/goleak v1.3.0
)
