-- Ada@example.org and ada@example.org are one address.
CREATE UNIQUE INDEX ${prefix}users_email_lower ON ${prefix}users (lower(email));
