import { badSolid, onSolid, wTitle } from '../base/tokens.js';

export const style = `
:host { display: inline-block; }
:host([layout=list]) { display: block; }
.bell { display: flex; align-items: center; justify-content: center; gap: 6px; min-width: 40px; height: 40px; padding-inline: 9px;
  border-radius: var(--_radius); color: inherit; }
.bell:hover { background: var(--_surface); }
.badge { min-width: 20px; padding-inline: 6px; border-radius: 10px; background: var(--postern-danger, ${badSolid}); color: ${onSolid}; font-size: 12px;
  font-weight: ${wTitle}; line-height: 20px; text-align: center; font-variant-numeric: tabular-nums; }
.panel { display: flex; flex-direction: column; background: var(--_ground); color: var(--_ink); border: 1px solid var(--_line);
  border-radius: calc(var(--_radius) + 4px); overflow: hidden; padding: 0; }
.panel[popover] { position: fixed; inset: auto; margin: 0; box-shadow: var(--_shadow);
  width: min(var(--postern-inbox-width, 24rem), calc(100vw - 16px)); }
.panel[popover]:not(:popover-open) { display: none; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; min-height: 52px; padding: 8px var(--_space); border-bottom: 1px solid var(--_line); }
.head h2 { flex: 1 1 auto; }
.panel:focus-visible { outline: none; }
.head .icon { margin-inline-end: -8px; }
.head .icon.first { margin-inline: -8px 0; }
.head .icon.first:dir(rtl) svg { transform: scaleX(-1); }
.scroll { overflow-y: auto; overscroll-behavior: contain; max-height: var(--postern-inbox-height, 32rem); }
.note { padding: 10px var(--_space); background: var(--_surface); border-bottom: 1px solid var(--_line); font-size: 0.8667em; }
.note .act { margin-inline-start: 8px; }
.rest { padding: 10px var(--_space); border-top: 1px solid var(--_line); text-align: center; }
.empty { display: grid; justify-items: center; gap: 4px; padding: 40px 24px 44px; text-align: center; }
.empty svg { width: 28px; height: 28px; color: var(--_muted); margin-bottom: 8px; }
.empty strong { font-weight: ${wTitle}; }
.empty .act { margin-top: 12px; }
.pushes { padding: 14px var(--_space) 18px; }
.waiting { padding: 14px var(--_space) 20px; display: grid; grid-template-columns: 40px 1fr; gap: 22px 12px; align-items: center; }
.waiting i { height: 36px; }
.waiting i:nth-of-type(odd) { height: 40px; border-radius: 50%; }
@media (pointer: coarse) { .head .link, .rest .link { padding-block: 10px; } .bell { min-width: 44px; height: 44px; } }
@media (forced-colors: active) { .badge { border: 1px solid; } }
`;
