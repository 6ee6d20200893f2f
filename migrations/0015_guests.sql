-- Whether the user is a guest: nobody has proven anything, and only the token of the first login names the user. It ends with the
-- first address, passkey or account at a provider. The last release goes on working beside this one: it inserts the default.
alter table users add column is_guest boolean not null default false;
