// SVG paths for the function `icon`, in a square of 20 by 20 units. They are part of the script, so they need no
// request, and work even if the content security policy of the page forbids images.

/** A bell. */
export const bellPath = 'M10 2.5a5 5 0 0 1 5 5c0 4 1.5 5.5 2 6H3c.5-.5 2-2 2-6a5 5 0 0 1 5-5zM8.2 16.5a2 2 0 0 0 3.6 0';

/** Two sliders, for the settings. */
export const settingsPath =
  'M3 6.5h8M15 6.5h2M3 13.5h2M9 13.5h8M13 4.7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM7 11.7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z';

/** An arrow to the left. The style mirrors it in text that runs from right to left. */
export const backPath = 'M16 10H4M9 5l-5 5 5 5';
