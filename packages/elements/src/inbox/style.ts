import { skeletonStyle } from '../base/skeleton-style.js';
import { badSolid, onSolid, wTitle } from '../base/tokens.js';

export const style = `${skeletonStyle}:host { display: inline-block; }
:host([layout=list]) { display: block; }
.bell { display: flex; align-items: center; justify-content: center; gap: 6px; min-width: 40px; height: 40px; padding-inline: 9px;
  border-radius: var(--_radius); }
.bell:hover { background: var(--_surface); }
.badge { min-width: 20px; padding-inline: 6px; border-radius: 10px; background: var(--postern-danger, ${badSolid}); color: ${onSolid}; font-size: 12px;
  font-weight: ${wTitle}; line-height: 20px; text-align: center; font-variant-numeric: tabular-nums; }
.panel { display: flex; flex-direction: column; background: var(--_ground); color: var(--_ink); border: 1px solid var(--_line);
  border-radius: calc(var(--_radius) + 4px); overflow: hidden; padding: 0; }
.panel[popover] { position: fixed; inset: auto 8px auto auto; margin: 0; box-shadow: var(--_shadow);
  width: min(var(--postern-inbox-width, 24rem), calc(100vw - 16px)); }
.panel[popover]:not(:popover-open) { display: none; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; min-height: 52px; padding: 8px var(--_space); border-bottom: 1px solid var(--_line); }
.head h2 { flex: auto; }
.panel:focus-visible { outline: none; }
.head .icon { margin-inline-end: -8px; }
.scroll { overflow-y: auto; overscroll-behavior: contain; max-height: var(--postern-inbox-height, 32rem); }
.waiting { padding: 14px var(--_space) 20px; display: grid; gap: 16px; }
.waiting i { height: 44px; }
@media (pointer: coarse) { .head .link, .rest .link { padding-block: 10px; } .bell { min-width: 44px; height: 44px; } }
@media (forced-colors: active) { .badge { border: 1px solid; } }
`;
