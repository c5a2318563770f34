-- The default collation treats Ada as ada. An indexed column cannot be altered.
DROP INDEX idx_${prefix}users_username ON ${prefix}users;
DROP INDEX idx_${prefix}users_email ON ${prefix}users;
ALTER TABLE ${prefix}users ALTER COLUMN username NVARCHAR(64) COLLATE Latin1_General_100_BIN2 NOT NULL;
ALTER TABLE ${prefix}users ALTER COLUMN email NVARCHAR(128) COLLATE Latin1_General_100_BIN2 NOT NULL;
CREATE UNIQUE INDEX idx_${prefix}users_username ON ${prefix}users (username);
CREATE UNIQUE INDEX idx_${prefix}users_email ON ${prefix}users (email);
