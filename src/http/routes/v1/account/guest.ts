import type { GuestMerge } from '../../../../account/guest-merge.js';
import { GuestMerge as GuestMergeRequest, MergedGuest } from '../../../../contract/account/account.js';
import { callingSessionOf } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

/** The route that moves what a guest has into the caller's account. */
export function accountGuestRoutes(app: App, { guestMerge }: { guestMerge: GuestMerge }): void {
  app.route({
    method: 'PUT',
    url: '/v1/account/guest',
    schema: {
      operationId: 'mergeGuest',
      summary: 'Move the inbox of a guest into your account',
      description:
        'For a person who was a guest and then logged in to an account. Moves the notifications of the guest to the end of your inbox, with the time of this request, and deletes the guest, in one transaction. What the guest has read or archived stays so.',
      body: GuestMergeRequest,
      response: { 200: { ...MergedGuest, description: 'The guest no longer exists.' } },
    },
    // It moves an inbox of any size, in statements that each end in time.
    config: { access: 'session', hasNoHandlerTimer: true, problems: ['guest_rejected', 'too_many_requests'] },
    async handler(request) {
      return guestMerge.merge(callingSessionOf(request), request.body.token);
    },
  });
}
