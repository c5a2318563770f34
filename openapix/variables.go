package openapix

import "github.com/plinthgo/plinth/core/defined/xenv"

func init() { xenv.Register[variables]("OpenAPI") }

const (
	outputKey   xenv.EnvKey = "PLINTH_OPENAPI_OUTPUT"
	commentsKey xenv.EnvKey = "PLINTH_OPENAPI_COMMENTS"
	envelopeKey xenv.EnvKey = "PLINTH_ENVELOPE"
)

type variables struct {
	Output   string `env:"PLINTH_OPENAPI_OUTPUT" doc:"File to which the application writes its OpenAPI document instead of starting. The command plinth openapi sets it; .env cannot."`
	Comments string `env:"PLINTH_OPENAPI_COMMENTS" doc:"JSON file with the doc comments for the OpenAPI document. The command plinth openapi sets it; .env cannot."`
}
