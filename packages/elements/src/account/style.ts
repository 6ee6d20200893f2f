import { formStyle } from '../base/form-style.js';

export const style = `${formStyle}
:host { display: block; max-width: 44rem; padding: var(--_space); border-radius: calc(var(--_radius) + 4px); background: var(--postern-background, none); }
.sections { display: grid; gap: calc(var(--_space) * 1.75); }
.sections > section > h2 { padding-bottom: 10px; }
.lines { background: var(--_ground); border: 1px solid var(--_line); border-radius: calc(var(--_radius) + 4px); }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px; padding: 11px var(--_space); min-height: 56px; }
.line + .line { border-top: 1px solid var(--_line); }
.what { flex: 1 1 14rem; display: grid; min-width: 0; }
.name { font-weight: 550; }
.value { font-size: 0.9em; }
.acts { display: flex; flex-wrap: wrap; gap: 0 18px; }
.link.bad { color: var(--_danger); }
.tag { display: inline-block; padding: 1px 7px; border-radius: 4px; background: var(--_surface); color: var(--_muted); font-size: 0.8em; font-weight: 550; }
.links { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 12px; }
section > div > .link { margin-top: 8px; }
dialog { width: min(27rem, calc(100vw - 24px)); max-height: calc(100vh - 24px); padding: calc(var(--_space) * 1.5); border: 1px solid var(--_line);
  border-radius: calc(var(--_radius) + 4px); background: var(--_ground); color: var(--_ink); box-shadow: var(--_shadow); overflow-y: auto; }
dialog::backdrop { background: rgb(0 0 0 / 45%); }
dialog h2 { font-size: 1.2em; }
.body { display: grid; gap: 12px; margin-block: 12px; }
.end { justify-content: flex-end; }
.qr { width: 12rem; height: 12rem; max-width: 100%; margin-inline: auto; background: #fff; border-radius: 6px; fill: #000; stroke: none; }
.secret, .codes { font-family: ui-monospace, Menlo, Consolas, monospace; }
.codes { columns: 2; padding: 12px 16px; border-radius: var(--_radius); background: var(--_surface); user-select: all; }
@media (max-width: 30rem) { .codes { columns: 1; } }
`;
