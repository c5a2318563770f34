package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// The values of the line: five fields, in addition to the request ID.
const (
	lineMessage  = "request served"
	lineMethod   = "GET"
	linePath     = "/api/v1/user/42"
	lineStatus   = 200
	lineBytes    = 1234
	lineDuration = 1234567 * time.Nanosecond
)

// logs compares a log line with the same line written by zerolog.
func logs() []comparison {
	r := xctx.NewRequest(context.Background(), nil)
	r.GenerateID()
	zero := zerolog.New(io.Discard).With().Timestamp().Logger()
	engine := must(xlog.New(xlog.Config{Writer: io.Discard, Format: xlog.FormatJSON}))
	own, handler := engine.WithName(""), slog.New(engine.Handler())
	quiet := zero.Level(zerolog.InfoLevel)
	five := repeat(func() {
		zero.Info().Str("request_id", r.ID()).Str("method", lineMethod).Str("path", linePath).
			Int("status", lineStatus).Int64("bytes", lineBytes).Dur("duration", lineDuration).
			Msg(lineMessage)
	})
	return []comparison{
		{
			name: "line of five fields and the id", peer: "zerolog", target: 1.05, theirs: five,
			ours: repeat(func() {
				own.Info(r, lineMessage,
					slog.String("method", lineMethod), slog.String("path", linePath),
					slog.Int("status", lineStatus), slog.Int64("bytes", lineBytes),
					slog.Duration("duration", lineDuration))
			}),
		},
		{
			name: "the same as a slog.Handler", peer: "zerolog", target: 2, theirs: five,
			ours: repeat(func() {
				handler.LogAttrs(r, slog.LevelInfo, lineMessage,
					slog.String("method", lineMethod), slog.String("path", linePath),
					slog.Int("status", lineStatus), slog.Int64("bytes", lineBytes),
					slog.Duration("duration", lineDuration))
			}),
		},
		{
			name: "line below the level", peer: "zerolog", allocs: 0,
			ours:   repeat(func() { own.Debug(r, lineMessage) }),
			theirs: repeat(func() { quiet.Debug().Msg(lineMessage) }),
		},
	}
}
