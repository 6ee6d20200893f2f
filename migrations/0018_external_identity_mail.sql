-- The mail address that the provider last named for the account, in lower case, so that operators find the user by it. It says
-- nothing about who the user is: logins use the issuer and the subject only. Null: the provider named none, or the account was
-- linked before this change. The last release goes on working beside this one: it inserts null.
alter table external_identities add column email text;
