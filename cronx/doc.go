// Package cronx defines scheduled jobs. Package cronx/runner runs them.
//
//	cronx.NewJob("0 3 * * *", sendReport, cronx.WithName("report"), cronx.WithSingleRun())
//
// # Specs
//
// A spec has five fields (minute, hour, day, month, weekday), or six fields
// that start with the second. It can also be @yearly, @monthly, @weekly, @daily, @hourly
// or "@every 90s".
//
// Fields contain numbers, names, lists, ranges and steps. Days of month also accept L and
// W, and days of week FRI#3 and FRI#L. If both day fields are restricted, one match is
// enough; a field that contains a star, such as */2, is not restricted. The prefix
// "CRON_TZ=Europe/Berlin " sets the time zone.
//
// @every is aligned to 1970-01-01 00:00 UTC, not to the start of the process.
//
// # Daylight saving
//
// A spec that restricts hours ("30 2 * * *", "0 */2 * * *") is due once a day at each of
// its times. Skipped times are due together, once, at the moment of the change. Repeated
// times are due at the first occurrence.
//
// A spec for every hour ("*/15 * * * *", "@hourly") is due whenever the clock shows one
// of its times.
package cronx
