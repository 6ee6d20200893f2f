-- The apps that a user has let use the login of the pages of this service (PAGES). Each further app asks once.
create table page_apps (
  user_id    uuid not null,
  id         uuid not null,
  -- An entry of REDIRECT_URIS. Each answer removes those of entries that are no longer listed.
  app        text not null,
  allowed_at timestamptz not null,
  primary key (user_id, app)
);

-- When the user has proven to be this user, if not at the approval: the login of an app that came from the login of the pages has the
-- time of that login. Null: `approved_at`. The last release goes on working beside this one: it inserts the default.
alter table authentications add column authenticated_at timestamptz;

-- Whether the device is a browser with a login of the pages. It does not count toward MAX_DEVICES. At most 20 of a user are
-- marked. The last release goes on working beside this one: it inserts the default.
alter table devices add column is_page boolean not null default false;
