import { issueStyle } from '../base/issue-style.js';
import { skeletonStyle } from '../base/skeleton-style.js';
import { actStyle } from '../base/small-button.js';
import { wStrong } from '../base/tokens.js';

export const style = `${issueStyle}${actStyle}${skeletonStyle}.issue .act { margin-inline-start: 8px; }
:host { display: block; max-width: 44rem; padding: var(--_space); border-radius: calc(var(--_radius) + 4px); background: var(--postern-background, none); }
.sections { display: grid; gap: calc(var(--_space) * 2); }
.sections > section > h2 { padding-bottom: 10px; }
.lines, .waiting { background: var(--_ground); border: 1px solid var(--_line); border-radius: calc(var(--_radius) + 4px); }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 20px; padding: 12px var(--_space); min-height: 60px; }
.line + .line { border-top: 1px solid var(--_line); }
.line:has(> svg) { position: relative; padding-inline-start: calc(var(--_space) + 2.125rem); }
.line > svg { position: absolute; inset-block-start: 16px; inset-inline-start: var(--_space); color: var(--_muted); }
[part~=entry] .name { font-weight: 400; }
.description { flex: 1 1 8rem; display: grid; min-width: 0; }
.name { font-weight: ${wStrong}; }
.value { font-size: 0.9em; }
.acts { display: flex; flex-wrap: wrap; gap: 8px; }
.acts:has(.quiet:last-child) { margin-inline-end: -12px; }
.tag { display: inline-block; padding: 1px 7px; border-radius: 4px; background: var(--_surface); color: var(--_muted); font-size: 0.8em; font-weight: ${wStrong}; }
section > div > .act { margin-top: 12px; }
.waiting { display: grid; gap: 10px; padding: var(--_space); }
.waiting .short { width: 7rem; height: 14px; }
.waiting .tall { height: 64px; }
@media (max-width: 30rem) { .acts:has(.quiet:last-child) { margin-inline-end: 0; } .acts > .quiet:first-child { margin-inline-start: -12px; } }
`;
