// Package cronx describes what runs on a schedule. Package cronx/runner runs it.
//
//	cronx.NewJob("0 3 * * *", sendReport, cronx.WithName("report"), cronx.WithSingleRun())
//
// # Specs
//
// A spec has five fields (minute, hour, day of month, the month, day of week), or six,
// which begin with the second; or it is one of @yearly, @monthly, @weekly, @daily,
// @hourly and "@every 90s". Fields hold numbers, names, lists, ranges and steps, also L
// and W among days of the month and FRI#3 and FRI#L among days of the week. Where both
// days are restricted either is enough; a field with a star in it, also */2, is not
// restricted. "CRON_TZ=Europe/Berlin " before it names its time zone.
//
// @every is counted from 1970-01-01 00:00 UTC, and not from the start of the process.
//
// # Daylight saving
//
// A spec that names hours ("30 2 * * *", "0 */2 * * *") is due at each of its times once
// a day. What the clock skips is due at the moment of the jump, once, however many times
// were skipped. What the clock shows twice is due at the first.
//
// A spec for every hour ("*/15 * * * *", "@hourly") is due whenever the clock shows one
// of its times: time goes on evenly for it.
package cronx
