/** The style of what waits for its content. */
export const skeletonStyle = `
.skeleton { border-radius: var(--_radius); background: var(--_surface); animation: fade 1s ease-in-out infinite alternate; }
@keyframes fade { to { opacity: 0.45; } }
`;
