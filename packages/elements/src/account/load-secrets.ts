import { loadPart } from '@postern/client/internal';

/** Later steps of changes, and the export, are loaded when they are used. */
export const loadSecrets = () => loadPart(() => import('./secrets.js'));
