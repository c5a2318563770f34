-- Ada@example.org and ada@example.org are the same address.
CREATE UNIQUE INDEX ${prefix}users_email_lower ON ${prefix}users (lower(email));
