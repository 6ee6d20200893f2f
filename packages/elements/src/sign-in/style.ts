import { formStyle } from '../base/form-style.js';
import { wStrong, wTitle } from '../base/tokens.js';

export const style = `${formStyle}
:host { display: block; max-width: 23rem; }
.card { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--_space); padding: calc(var(--_space) * 1.5); background: var(--_ground); border: 1px solid var(--_line);
  border-radius: calc(var(--_radius) + 4px); }
.card > h2 { font-size: 1.25em; }
.card > h2:focus { outline: none; }
.lead { margin-top: calc(var(--_space) * -0.5); }
.or { display: flex; align-items: center; gap: 12px; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--_line); }
.small .small { font-size: inherit; }
.others { display: grid; gap: 8px; }
.others:has(form) { gap: var(--_space); }
.others .button { width: 100%; }
.two { grid-template-columns: repeat(auto-fit, minmax(min(100%, 8.5rem), 1fr)); }
.mark { flex: none; width: 1.125rem; height: 1.125rem; stroke: none; }
.mark.letter { display: grid; place-items: center; border-radius: 4px; background: var(--_surface); font-size: 0.75rem; font-weight: ${wTitle}; }
.tag { padding: 1px 7px; border-radius: 4px; background: var(--_surface); color: var(--_muted); font-size: 0.8em; font-weight: ${wStrong}; }
.button:hover .tag, .button:hover .letter { background: var(--_ground); }
.chosen { display: flex; align-items: center; justify-content: space-between; gap: 12px; padding: 6px 12px; border-radius: var(--_radius);
  background: var(--_surface); }
.chosen bdi { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.new { text-align: center; padding-top: var(--_space); border-top: 1px solid var(--_line); }
.card > .link { justify-self: center; }
a.link { text-decoration: none; }
.secret { overflow-wrap: anywhere; }
.qr { width: 12rem; max-width: 100%; background: #fff; }
.codes { columns: 2; margin: 0; padding: 0; list-style: none; font-variant-numeric: tabular-nums; }
.check { margin-top: calc(var(--_space) * 0.75); text-align: center; }
.check:empty { display: none; }
slot:not(.full) { display: contents; }
`;
