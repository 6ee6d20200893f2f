/** The style of tabs and of the buttons of a row, which is loaded with them. */
export const style = `.tabs { display: flex; flex-wrap: wrap; gap: 4px; padding: 6px calc(var(--_space) - 8px); border-bottom: 1px solid var(--_line); }
.tabs, .issue { flex: none; }
.tabs[hidden], .tabs:has(~ .scroll[hidden]) { display: none; }
.tab[aria-pressed=true] { background: var(--_surface); color: var(--_ink); border-color: var(--_line); }
.elsewhere > .link { display: none; }
.issue { padding: 10px var(--_space); color: var(--_danger); border-bottom: 1px solid var(--_line); }
.issue:empty { display: none; }
li:has(> .tools:not(.bare)) > .item { padding-block-end: 4px; }
.tools { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; padding-block: 0 8px;
  padding-inline: calc(var(--_space) + 52px) calc(var(--_space) - 6px); }
.item:has(.time) + .tools.bare { margin-block-start: -38px; padding-block-end: 6px; pointer-events: none; }
.tools.bare > * { pointer-events: auto; }
.tools > .muted { flex-basis: 100%; }
li:has(> .tools:not(.bare)):hover { background: var(--_surface); }
.tools .icons { display: flex; margin-inline-start: auto; }
.tools .tool { display: grid; place-items: center; width: 32px; height: 32px; border-radius: var(--_radius); color: var(--_muted); }
.tools .tool:hover, .tools .tool[aria-expanded=true] { background: var(--_line); color: var(--_ink); }
.tools .tool svg { width: 18px; height: 18px; }
.tools .done { display: inline-flex; align-items: center; gap: 4px; color: var(--_muted); }
.tools .done svg { width: 16px; height: 16px; color: var(--_accent); }
.tools .choices { display: flex; flex-wrap: wrap; gap: 6px; flex-basis: 100%; }
.tools a.act { display: inline-block; color: inherit; text-decoration: none; }
@media (pointer: coarse) { .tools .tool { width: 40px; height: 40px; } }
@media (forced-colors: active) { .tab[aria-pressed=true] { border-color: Highlight; } }
`;
