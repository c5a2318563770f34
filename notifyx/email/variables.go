package email

import "github.com/plinthgo/plinth/core/defined/xenv"

func init() { xenv.Register[variables]("Mail") }

const (
	hostKey     xenv.EnvKey = "EMAIL_HOST"
	portKey     xenv.EnvKey = "EMAIL_PORT"
	userKey     xenv.EnvKey = "EMAIL_USER"
	passKey     xenv.EnvKey = "EMAIL_PASS"
	fromKey     xenv.EnvKey = "EMAIL_FROM"
	fromNameKey xenv.EnvKey = "EMAIL_FROM_NAME"
	tlsKey      xenv.EnvKey = "EMAIL_TLS"
)

type variables struct {
	Host     string `env:"EMAIL_HOST" doc:"Host of the mail server."`
	Port     int    `env:"EMAIL_PORT" default:"587" min:"0" max:"65535" doc:"Port of the mail server."`
	User     string `env:"EMAIL_USER" doc:"User."`
	Pass     string `env:"EMAIL_PASS" secret:"true" doc:"Password."`
	From     string `env:"EMAIL_FROM" doc:"Address of the sender."`
	FromName string `env:"EMAIL_FROM_NAME" doc:"Name of the sender."`
	TLS      string `env:"EMAIL_TLS" default:"starttls" oneof:"none starttls tls" doc:"Encryption of the connection to the mail server."`
}
