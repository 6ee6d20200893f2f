export const overview = {
  title: 'Overview',
  warnings: 'Warnings',
  allWell: 'Nothing needs you now.',
  checked: 'Checked',
  failedMessages: (n: number, capped: boolean) =>
    capped
      ? `More than ${n.toLocaleString('en')} messages failed in the last 24 hours.`
      : n === 1
        ? 'One message failed in the last 24 hours.'
        : `${n.toLocaleString('en')} messages failed in the last 24 hours.`,
  lastFailure: (kind: string, reason: string) => `The last one: ${kind}, ${reason}.`,
  now: 'Now',
  pause: 'Pause',
  resume: 'Resume',
  waitingEvents: (n: number) => `${n.toLocaleString('en')} newer`,
  nothingYet: 'Nothing has happened yet',
  nothingYetWhy: 'Logins, refusals, locks and changes appear here as they happen.',
  eventsFailed: 'The events could not be read.',
  messagesFailed: 'The messages could not be read.',
  somebody: 'Somebody',
  deleted: 'A deleted user',
  postern: 'Postern',
};
