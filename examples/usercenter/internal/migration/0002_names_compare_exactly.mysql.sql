-- The usual collation takes Ada for ada and é for e, which no other database does.
ALTER TABLE ${prefix}users
	MODIFY username VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	MODIFY email VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL;
