export const parts = {
  title: 'Components and states',
  about: 'All components of the console, for people who change it.',
  buttons: 'Buttons',
  fields: 'Fields',
  states: 'States',
  values: 'Ids, times, numbers',
  toasts: 'Toasts',
  list: 'A list',
  without: 'A panel without data',
  plot: 'Plot',
  timeline: 'Timeline',
};
