-- Each table gets the name of what it stores. The former release still uses the old names: each is a view of the table,
-- through which it reads, writes and locks the rows. A later migration drops the views.

-- Publishing requests whose pushes are not created yet.
alter table publications rename to push_fan_outs;
alter index publications_pkey rename to push_fan_outs_pkey;
alter index publications_by_created_at rename to push_fan_outs_by_created_at;
create view publications as select * from push_fan_outs;

-- The progress of each maintenance task.
alter table chores rename to maintenance_tasks;
alter index chores_pkey rename to maintenance_tasks_pkey;
create view chores as select * from maintenance_tasks;

-- Used DPoP proofs. A proof that a user sends to re-authenticate is something else.
alter table used_proofs rename to used_dpop_proofs;
alter index used_proofs_pkey rename to used_dpop_proofs_pkey;
alter index used_proofs_by_used_at rename to used_dpop_proofs_by_used_at;
create view used_proofs as select * from used_dpop_proofs;
