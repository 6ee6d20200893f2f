import { issueStyle, mono } from './issue-style.js';
import { hLarge, wStrong } from './tokens.js';

/** The style of forms and buttons. */
export const formStyle = `
form { display: grid; gap: var(--_space); }
.field { display: grid; gap: 6px; }
.field label { font-size: 0.9em; font-weight: ${wStrong}; }
.field label .muted { font-weight: 400; }
.control { position: relative; display: grid; }
.input { width: 100%; min-width: 0; min-height: ${hLarge}; padding: 8px 12px; border: 1px solid var(--_control); border-radius: var(--_radius);
  background: var(--_ground); color: var(--_ink); }
.input:focus-visible { outline-offset: 0; border-color: transparent; }
.input[aria-invalid] { border-color: var(--_danger); }
.input.code { font-family: ${mono}; font-size: 1.25em; letter-spacing: 0.18em; }
.control:has(.eye) .input { padding-inline-end: 2.875rem; }
.eye { position: absolute; inset-block: 0; inset-inline-end: 5px; margin-block: auto; }
.eye[aria-pressed=true] { color: var(--_accent); }
${issueStyle}.notice { padding: 10px 14px; border-radius: var(--_radius); background: var(--_surface);
  font-size: 0.9333em; }
.button { display: inline-flex; align-items: center; justify-content: center; gap: 8px; min-height: ${hLarge}; padding: 8px 16px;
  border-radius: var(--_radius); border: 1px solid var(--_control); background: var(--_ground); font-weight: ${wStrong}; text-align: center; }
.button:hover { background: var(--_surface); }
.button.primary { border-color: transparent; background: var(--_solid); color: var(--_on-accent); }
.button.primary:hover { box-shadow: inset 0 0 0 99px rgb(0 0 0 / 12%); }
.button.danger { border-color: var(--_danger); color: var(--_danger); }
.button { position: relative; }
.button[aria-disabled=true] { cursor: progress; }
.button[aria-disabled=true]::after, .turning::before { content: ""; width: 1rem; height: 1rem; border-radius: 50%;
  border: 2px solid currentColor; border-inline-end-color: transparent; animation: turn 0.8s linear infinite; }
.button[aria-disabled=true]::after { position: absolute; inset-inline-end: 14px; }
.turning::before { display: inline-block; margin-inline-end: 8px; vertical-align: -0.125em; }
@keyframes turn { to { transform: rotate(1turn); } }
.row { display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: center; justify-content: center; text-align: center; }
@media (pointer: coarse) { .input, .button { font-size: max(1em, 16px); } .link { padding-block: 10px; } .icon { min-width: 40px; height: 40px; } }
@media (forced-colors: active) { .button.primary { border-color: ButtonText; } }
`;
