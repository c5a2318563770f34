package xlog

import "github.com/plinthgo/plinth/core/defined/xenv"

func init() { xenv.Register[variables]("Logs") }

type variables struct {
	Level      string `env:"LOG_LEVEL" default:"info" oneof:"debug info notice warn error" doc:"Lowest level written; in debug mode the default is debug."`
	Format     string `env:"LOG_FORMAT" default:"auto" oneof:"auto console json" doc:"Format of the lines on standard output; auto is console on a terminal, else json."`
	Dir        string `env:"LOG_DIR" default:"none" doc:"Directory of log files, written in addition to standard output; none disables files."`
	MaxSize    int    `env:"LOG_MAX_SIZE" default:"100" min:"1" max:"2147483647" doc:"Size in megabytes at which a log file is rotated."`
	MaxAge     int    `env:"LOG_MAX_AGE" default:"30" min:"0" max:"2147483647" doc:"Days that rotated files are retained; 0 means no limit."`
	MaxBackups int    `env:"LOG_MAX_BACKUPS" default:"30" min:"0" max:"2147483647" doc:"Number of rotated files that are retained; 0 means all."`
	Compress   bool   `env:"LOG_COMPRESS" default:"true" doc:"Compress rotated files."`
}
