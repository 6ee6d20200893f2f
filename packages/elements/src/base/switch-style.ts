/** The style of switches. */
export const switchStyle = `
.switch { appearance: none; flex: none; position: relative; width: 38px; height: 22px; margin: 0; border-radius: 11px; cursor: pointer;
  background: var(--_control); transition: background 120ms; }
.switch::after { content: ""; position: absolute; inset-block-start: 3px; inset-inline-start: 3px; width: 16px; height: 16px;
  border-radius: 50%; background: var(--_ground); transition: inset-inline-start 120ms; }
.switch:checked { background: var(--_accent); }
.switch:checked::after { inset-inline-start: 19px; }
@media (forced-colors: active) { .switch { appearance: auto; } .switch::after { content: none; } }
`;
