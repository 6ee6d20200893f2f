import { issueStyle } from '../base/style.js';

export const style = `${issueStyle}
:host { display: block; max-width: 44rem; padding: var(--_space); border-radius: calc(var(--_radius) + 4px); background: var(--postern-background, none); }
.sections { display: grid; gap: calc(var(--_space) * 1.75); }
.sections > section > h2 { padding-bottom: 10px; }
.lines { background: var(--_ground); border: 1px solid var(--_line); border-radius: calc(var(--_radius) + 4px); }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px; padding: 11px var(--_space); min-height: 56px; }
.line + .line { border-top: 1px solid var(--_line); }
.line:has(> svg) { position: relative; padding-inline-start: calc(var(--_space) + 34px); }
.line > svg { position: absolute; inset-block-start: 16px; inset-inline-start: var(--_space); color: var(--_muted); }
[part~=entry] .name { font-weight: 400; }
.description { flex: 1 1 11rem; display: grid; min-width: 0; }
.name { font-weight: 550; }
.value { font-size: 0.9em; }
.acts { display: flex; flex-wrap: wrap; gap: 0 18px; }
.link.bad { color: var(--_danger); }
.tag { display: inline-block; padding: 1px 7px; border-radius: 4px; background: var(--_surface); color: var(--_muted); font-size: 0.8em; font-weight: 550; }
section > div > .link { margin-top: 8px; }
`;
