// Package cronx defines scheduled jobs. Package cronx/runner runs them.
//
//	cronx.NewJob("0 3 * * *", sendReport, cronx.WithName("report"), cronx.WithSingleRun())
//
// # Specs
//
// A spec has five fields (minute, hour, day of month, month and day of week), or six
// fields if the first is the second. It can also be @yearly, @monthly, @weekly, @daily,
// @hourly or an interval such as "@every 90s".
//
// Fields contain numbers, names, lists, ranges and steps. The day of month also accepts L
// and W, and the day of week FRI#3 and FRI#L. If both day fields are restricted, one
// match is enough. A day field that contains a star, such as */2, is not restricted. The
// prefix "CRON_TZ=Europe/Berlin " sets the time zone.
//
// @every is aligned to 1970-01-01 00:00 UTC, not to the start of the process.
//
// # Daylight saving
//
// A spec that restricts hours ("30 2 * * *", "0 */2 * * *") is due once a day at each of
// its times. Times that the clock skips are due together, once, at the moment of the
// change. Times that the clock repeats are due at their first occurrence.
//
// A spec for every hour ("*/15 * * * *", "@hourly") is due whenever the clock shows one
// of its times.
package cronx
