import { issueStyle } from '../base/issue-style.js';
import { skeletonStyle } from '../base/skeleton-style.js';
import { actStyle } from '../base/small-button.js';
import { switchStyle } from '../base/switch-style.js';
import { wStrong } from '../base/tokens.js';

/** The channels of a category are columns below a head. In a narrow page, each category shows their names above its switches. */
export const style = `${issueStyle}${actStyle}${skeletonStyle}${switchStyle}
:host { display: block; max-width: 44rem; padding: var(--_space); border-radius: calc(var(--_radius) + 4px); background: var(--postern-background, none); }
.page { container-type: inline-size; }
.sections { display: grid; gap: calc(var(--_space) * 2); }
h2 { padding-bottom: 10px; }
.lines, .waiting { background: var(--_ground); border: 1px solid var(--_line); border-radius: calc(var(--_radius) + 4px); }
.line { display: flex; align-items: center; gap: 8px 20px; padding: 12px var(--_space); min-height: 60px; }
.line + .line, .head + .line { border-top: 1px solid var(--_line); }
.description { flex: 1; display: grid; gap: 2px; min-width: 0; }
.name { font-weight: ${wStrong}; }
.value { font-size: 0.9em; }
.warning { display: flex; gap: 6px; color: var(--_ink); }
.warning svg { width: 1rem; height: 1rem; margin-block-start: 0.15em; color: var(--_danger); }
.value a { color: var(--_accent); font-weight: ${wStrong}; }
.cells, .head { display: grid; grid-template-columns: repeat(4, 4.25rem); }
.cell { display: grid; place-items: center; min-height: 32px; text-align: center; cursor: pointer; }
.cell svg { color: var(--_muted); }
.cell:has(:disabled), .cell.fixed { cursor: default; }
.cell .label { display: none; }
.cell select { font-size: 0.8667em; padding-inline: 4px; }
.head { justify-content: end; padding: 10px var(--_space) 8px; font-size: 0.8667em; color: var(--_muted); text-align: center; }
.switch:disabled { cursor: default; opacity: 0.4; }
.topics:not(:empty) { margin-block-start: calc(var(--_space) * 2); }
.topic-push { display: flex; align-items: center; gap: 8px; font-size: 0.8667em; cursor: pointer; }
.topic .act { min-width: 5.5rem; }
.topic .bad:empty { display: none; }
.topic .bad { color: var(--_danger); }
.foot { padding-block-start: 10px; }
.foot:empty { display: none; }
select { min-width: 0; max-width: 100%; min-height: 36px; padding: 4px 8px; border: 1px solid var(--_control); border-radius: var(--_radius);
  background: var(--_ground); color: var(--_ink); font: inherit; cursor: pointer; }
.times, .days { flex-wrap: wrap; }
.time { display: flex; align-items: center; gap: 8px; }
.times .issue { flex-basis: 100%; margin: 0; }
.times .issue:empty { display: none; }
.days > span { flex-basis: 100%; }
.day { display: flex; align-items: center; gap: 6px; min-height: 32px; cursor: pointer; }
.day input { width: 18px; height: 18px; margin: 0; accent-color: var(--_accent); }
input[type=time] { min-height: 36px; padding: 4px 8px; border: 1px solid var(--_control); border-radius: var(--_radius);
  background: var(--_ground); color: var(--_ink); font: inherit; }
.zone select { width: min(18rem, 50cqw); }
.waiting { display: grid; gap: 10px; padding: var(--_space); }
.waiting .short { width: 9rem; height: 14px; }
.waiting .tall { height: 64px; }
.problem { position: sticky; margin-block-start: 12px; inset-block-end: 12px; box-shadow: var(--_shadow); }
.problem .act { margin-inline-start: 8px; }
@container (min-width: 33.01rem) { .lines:has(.cell select) :is(.cells, .head) { grid-template-columns: repeat(2, 4.25rem) 6rem 4.25rem; } }
@container (max-width: 33rem) {
  .head { display: none; }
  .lines > .line:first-child, .head + .line { border-top: 0; }
  .category { flex-direction: column; align-items: stretch; }
  .cells { grid-template-columns: repeat(4, minmax(0, 1fr)); }
  .lines:has(.cell select) .cells { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .cell { grid-template-rows: auto 1fr; gap: 4px; padding-block: 4px; min-height: 52px; border-radius: var(--_radius); background: var(--_surface); }
  .cells { gap: 6px; }
  .cell .label { display: block; font-size: 0.8667em; color: var(--_muted); }
  .topic { flex-wrap: wrap; }
  .topic .description { flex-basis: 100%; }
  .topic .act { margin-inline-start: auto; }
  .zone { flex-direction: column; align-items: stretch; }
  .zone select { width: 100%; }
}
@media (pointer: coarse) { select, input[type=time] { min-height: 44px; font-size: max(1em, 16px); } }
`;
