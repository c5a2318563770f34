package runner

import (
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

func init() { xenv.Register[listenVariables]("gRPC") }
func init() { xenv.Register[reflectionVariables]("gRPC") }
func init() { xenv.Register[limitVariables]("gRPC") }

// Port is the environment variable of the port.
const Port xenv.EnvKey = "GRPC_PORT"

type listenVariables struct {
	Port int `env:"GRPC_PORT" default:"1119" min:"0" max:"65535" doc:"gRPC listen port; 0 selects a free port."`
}

// reflectionVariables are separate, because an invalid value only disables reflection.
type reflectionVariables struct {
	Reflection string `env:"GRPC_REFLECTION" default:"false" oneof:"true false" doc:"gRPC server reflection."`
}

type limitVariables struct {
	MaxConnections      int           `env:"GRPC_MAX_CONNECTIONS" default:"1000" min:"0" max:"2147483647" doc:"Maximum number of gRPC connections; additional connections are closed at once; 0 means no limit."`
	MaxStreams          int           `env:"GRPC_MAX_STREAMS" default:"250" min:"1" max:"2147483647" doc:"Maximum number of concurrent calls of one gRPC connection; additional calls wait in the client."`
	MaxInflightBytes    int64         `env:"GRPC_MAX_INFLIGHT_BYTES" default:"67108864" min:"0" doc:"Bytes of incomplete messages over all gRPC connections; above the limit, calls are canceled; 0 means no limit."`
	FirstMessageTimeout time.Duration `env:"GRPC_FIRST_MESSAGE_TIMEOUT" default:"10s" min:"0s" max:"1h" doc:"Time for the request message of a gRPC call to arrive; 0 means no limit."`
}
