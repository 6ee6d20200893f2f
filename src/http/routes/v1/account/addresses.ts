import type { AddressType } from '../../../../account/code-sender.js';
import type { OwnAddresses } from '../../../../account/own-addresses.js';
import { Account, EmailChange, PhoneChange } from '../../../../contract/account/account.js';
import { CodeAnswer, StartedChallenge } from '../../../../contract/account/code.js';
import { type Proof, ProvenRequest } from '../../../../contract/account/proof.js';
import { parseId } from '../../../../lib/ids.js';
import { IdParams } from '../../../requests/parameters.js';
import { callingSessionOf, freshProof, proofProblems } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

const answer = { 200: { ...Account, description: 'The changed account.' } };

/** Routes for a user's own mail address and phone number. They differ only in their names. */
export function accountAddressRoutes(app: App, { addresses }: { addresses: OwnAddresses }): void {
  addressRoutes(app, addresses, { type: 'email', name: 'Email', what: 'mail address', body: EmailChange });
  addressRoutes(app, addresses, { type: 'phone', name: 'Phone', what: 'phone number', body: PhoneChange });
}

function addressRoutes(
  app: App,
  addresses: OwnAddresses,
  target: {
    readonly type: AddressType;
    readonly name: string;
    readonly what: string;
    readonly body: typeof EmailChange | typeof PhoneChange;
  },
): void {
  const { type, name, what, body } = target;
  app.route({
    method: 'POST',
    url: `/v1/account/${type}`,
    schema: {
      operationId: `start${name}Change`,
      summary: `Set your ${what}: send the code`,
      description: `Sends a code to the new ${what}. The change takes effect when you confirm the code. Needs ${freshProof}`,
      tags: ['Account'],
      body,
      response: { 201: { ...StartedChallenge, description: 'A code is sent.' } },
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request, reply) {
      const asked = request.body as { readonly proof: Proof } & Partial<Record<AddressType, string>>;
      return reply
        .code(201)
        .send(await addresses.begin(callingSessionOf(request), type, asked[type] ?? '', asked.proof));
    },
  });

  app.route({
    method: 'POST',
    url: `/v1/account/${type}/:id`,
    schema: {
      operationId: `confirm${name}Change`,
      summary: `Set your ${what}: confirm the code`,
      description: `The code replaces the old ${what} by the new one. If another user has it already, you learn it (409) here, not before.`,
      tags: ['Account'],
      params: IdParams,
      body: CodeAnswer,
      response: answer,
    },
    config: {
      access: 'session',
      problems: [
        'code_rejected',
        'identity_taken',
        'account_locked',
        'account_temporarily_locked',
        'too_many_requests',
      ],
    },
    async handler(request) {
      return addresses.confirm(callingSessionOf(request), type, parseId(request.params.id), request.body.secret);
    },
  });

  app.route({
    method: 'DELETE',
    url: `/v1/account/${type}`,
    schema: {
      operationId: `delete${name}`,
      summary: `Remove your ${what}`,
      description: `Refused if it is the only identity. Needs ${freshProof}`,
      tags: ['Account'],
      body: ProvenRequest,
      response: answer,
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request) {
      return addresses.remove(callingSessionOf(request), type, request.body.proof);
    },
  });
}
