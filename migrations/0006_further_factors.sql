-- A login may ask for a second secret under the same id, and may begin without saying whose it is.

alter table authentications
  -- Which secret an open login waits for: the first or the second.
  add column factor smallint not null default 1,
  -- What the second one was proven by; null where none was asked for.
  add column second_factor text,
  -- Keyed digest of the secret that approved it. The repeat of an approving request is compared with it, since what a
  -- secret was checked against (a one-time code, a challenge) is used up by then.
  add column approval_secret bytea;
