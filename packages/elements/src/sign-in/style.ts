import { formStyle } from '../base/form-style.js';

export const style = `${formStyle}
:host { display: block; max-width: 23rem; }
.card { display: grid; gap: var(--_space); padding: calc(var(--_space) * 1.5); background: var(--_ground); border: 1px solid var(--_line);
  border-radius: calc(var(--_radius) + 4px); }
.card > h2 { font-size: 1.25em; }
.card > h2:focus { outline: none; }
.lead { margin-top: calc(var(--_space) * -0.5); }
.or { display: flex; align-items: center; gap: 12px; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--_line); }
.small .small { font-size: inherit; }
.others { display: grid; gap: 8px; }
.big { font-size: 1.5em; font-weight: 620; font-variant-numeric: tabular-nums; }
.secret { overflow-wrap: anywhere; }
.qr { width: 12rem; max-width: 100%; background: #fff; }
.codes { columns: 2; margin: 0; padding: 0; list-style: none; font-variant-numeric: tabular-nums; }
slot:not(.full) { display: contents; }
`;
