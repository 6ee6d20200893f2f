// Generated from console/src/styles/tokens.css by `npm run generate`.

export const ink = 'light-dark(#1b1a17, #eeede8)';
export const ink3 = 'light-dark(#69675f, #999689)';
export const surface = 'light-dark(#ffffff, #181816)';
export const hover = 'light-dark(#f4f3ef, #21201d)';
export const accent = 'light-dark(#2a48c4, #93a7ff)';
export const accentSolid = 'light-dark(#2a48c4, #4560e0)';
export const onSolid = '#ffffff';
export const bad = 'light-dark(#b3261a, #ff9488)';
export const badSolid = 'light-dark(#bf2b1f, #c53c30)';
export const badSoft = 'light-dark(#fdeeec, #361a17)';
export const line = 'light-dark(#e8e6e0, #2a2926)';
export const lineControl = 'light-dark(#88857b, #7b786f)';
export const t15 = '0.9375rem';
export const lTight = '1.25';
export const wStrong = '550';
export const wTitle = '620';
export const r6 = '6px';
export const hLarge = '2.75rem';
export const shade2 = '0 8px 24px -6px light-dark(rgb(27 26 23 / 18%), rgb(0 0 0 / 70%))';
