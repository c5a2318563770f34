package river

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// states maps states to River's states.
var states = map[driver.State]string{
	driver.Waiting: "'available', 'scheduled', 'retryable', 'pending'",
	driver.Running: "'running'",
	driver.Dead:    "'cancelled', 'discarded'",
	driver.Done:    "'completed'",
}

// statements are the SQL statements for one schema. The job ID is River's unique key. The
// index of this key, which has 16 bytes, finds and orders jobs and rejects duplicates.
type statements struct {
	schema string // "" means the first schema of the search path

	insert, get, list, replay, remove string // for gorm
	fetch, owned, renew, rescue       string // for pgx
}

const (
	// record selects the columns of a record.
	record = "encode(unique_key, 'hex'), kind, args, priority, max_attempts, metadata, " +
		"state::text, attempt, created_at, CASE WHEN state IN ({waiting}) THEN scheduled_at " +
		"ELSE coalesce(attempted_at, scheduled_at) END, " +
		"coalesce(errors[array_upper(errors, 1)] ->> 'error', '')"

	// keyed contains the conditions of the partial index of unique keys.
	keyed = "unique_key IS NOT NULL AND unique_states IS NOT NULL " +
		"AND {schema}river_job_state_in_bitmask(unique_states, state) " +
		"AND queue = '" + Queue + "' AND octet_length(unique_key) = 16"

	// claimValid checks that a claim is valid: the job is running, in the claimed
	// attempt, on this client.
	claimValid = "j.state = 'running' AND j.attempt = w.attempt " +
		"AND j.attempted_by[array_upper(j.attempted_by, 1)] = $3"

	// notify notifies River's clients when the transaction commits.
	notify = "SELECT pg_notify(concat(coalesce(nullif('{name}', ''), current_schema()), " +
		"'.river_insert'), '{\"queue\": \"" + Queue + "\"}')"
)

// insertRows inserts jobs from a JSON array. River's leader makes jobs with a delay above
// 5 s available when they are due; fetchJobs checks the time of the others.
const insertRows = `INSERT INTO {schema}river_job
	(unique_key, unique_states, kind, args, priority, max_attempts, metadata, queue, state, created_at, scheduled_at)
SELECT decode(n.id, 'hex'), B'11111111', n.kind, coalesce(n.args, 'null'), n.priority, n.max_attempts, n.metadata, '` + Queue + `',
	(CASE WHEN n.delay > 5000000 THEN 'scheduled' ELSE 'available' END)::{schema}river_job_state,
	statement_timestamp(), statement_timestamp() + n.delay * interval '1 microsecond'
FROM json_to_recordset(?::json) AS n(id text, kind text, args jsonb, priority smallint, max_attempts smallint, metadata jsonb, delay bigint)`

// fetchJobs is River's query, limited to the kinds of the worker and without jobs that
// this client is still running. It also returns whether the previous worker crashed: then
// scheduled_at is still the time of the rescue.
const fetchJobs = `WITH found AS (
	SELECT id FROM {schema}river_job
	WHERE state = 'available' AND queue = $1 AND scheduled_at <= now() AND kind = ANY($2) AND id <> ALL($3)
		AND octet_length(unique_key) = 16
	ORDER BY priority, scheduled_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
)
UPDATE {schema}river_job j
SET state = 'running', attempt = j.attempt + 1, attempted_at = now(),
	attempted_by = array_append(j.attempted_by[greatest(array_upper(j.attempted_by, 1) - $5 + 2, 1):], $6)
FROM found WHERE j.id = found.id
RETURNING j.id, encode(j.unique_key, 'hex'), j.kind, j.args, j.priority, j.max_attempts, j.metadata, j.attempt, j.created_at, j.scheduled_at,
	coalesce(CASE WHEN j.errors[array_upper(j.errors, 1)] ->> 'error' = $7
		THEN (j.errors[array_upper(j.errors, 1)] ->> 'at')::timestamptz = j.scheduled_at END, false)`

// ownedJobs locks the jobs that this client still owns, and returns the server's time.
const ownedJobs = `SELECT coalesce(array_agg(o.id), '{}'), clock_timestamp() FROM (
	SELECT j.id FROM {schema}river_job j JOIN unnest($1::bigint[], $2::int[]) AS w(id, attempt) ON j.id = w.id
	WHERE ` + claimValid + ` ORDER BY j.id FOR UPDATE OF j
) o`

// renewJobs renews the claims of this client.
const renewJobs = `WITH o AS (
	SELECT j.id FROM {schema}river_job j JOIN unnest($1::bigint[], $2::int[]) AS w(id, attempt) ON j.id = w.id
	WHERE ` + claimValid + ` ORDER BY j.id FOR UPDATE OF j
)
UPDATE {schema}river_job j SET attempted_at = clock_timestamp() FROM o WHERE j.id = o.id RETURNING j.id`

// rescueJobs returns jobs of crashed clients to the queue. A job that was canceled in
// River becomes dead.
const rescueJobs = `WITH o AS (
	SELECT id FROM {schema}river_job
	WHERE state = 'running' AND queue = $1 AND attempted_at < clock_timestamp() - $2::bigint * interval '1 microsecond'
	ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED
)
UPDATE {schema}river_job j SET
	state = (CASE WHEN j.metadata ? 'cancel_attempted_at' THEN 'cancelled' ELSE 'available' END)::{schema}river_job_state,
	finalized_at = CASE WHEN j.metadata ? 'cancel_attempted_at' THEN clock_timestamp() END,
	scheduled_at = statement_timestamp(),
	errors = array_append(j.errors, jsonb_build_object('at', statement_timestamp(), 'attempt', j.attempt, 'trace', '', 'error', $3::text))
FROM o WHERE j.id = o.id`

func newStatements(schema string) statements {
	prefix := ""
	if schema != "" {
		prefix = pgx.Identifier{schema}.Sanitize() + "."
	}
	write := strings.NewReplacer("{schema}", prefix, "{name}", schema, "{waiting}",
		states[driver.Waiting], "{dead}", states[driver.Dead]).Replace
	byID := write(keyed) + " AND unique_key = decode(?, 'hex')"
	return statements{
		schema: schema,
		insert: write("WITH stored AS (" + insertRows + ") " + notify),
		get:    write("SELECT "+record+" FROM {schema}river_job WHERE ") + byID,
		list:   write("SELECT " + record + " FROM {schema}river_job WHERE " + keyed),
		replay: write("WITH again AS (UPDATE {schema}river_job SET state = 'available', "+
			"attempt = 0, finalized_at = NULL, scheduled_at = clock_timestamp(), "+
			"metadata = metadata - 'cancel_attempted_at' WHERE state IN ({dead}) AND ") + byID +
			write(" RETURNING id) "+notify+", (SELECT count(*) FROM again)"),
		remove: write("DELETE FROM {schema}river_job "+
			"WHERE state NOT IN ('running', 'completed') AND ") + byID,
		fetch: write(fetchJobs), owned: write(ownedJobs), renew: write(renewJobs),
		rescue: write(rescueJobs),
	}
}
