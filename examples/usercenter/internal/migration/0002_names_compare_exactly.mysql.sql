-- The default collation treats Ada as ada and é as e, unlike all other databases.
ALTER TABLE ${prefix}users
	MODIFY username VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	MODIFY email VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL;
