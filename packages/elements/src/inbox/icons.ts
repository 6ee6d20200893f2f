// SVG paths for the function `icon`, in a square of 20 by 20 units. They are part of the script, so they need no
// request, and work even if the content security policy of the page forbids images.

/** A bell. */
export const bellPath = 'M10 2.5a5 5 0 0 1 5 5c0 4 1.5 5.5 2 6H3c.5-.5 2-2 2-6a5 5 0 0 1 5-5zM8.2 16.5a2 2 0 0 0 3.6 0';
