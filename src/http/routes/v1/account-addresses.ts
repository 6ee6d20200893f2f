import type { AddressType } from '../../../authentication/self-service/code-sending.js';
import type { OwnAddresses } from '../../../authentication/self-service/own-addresses.js';
import {
  Account,
  BegunChallenge,
  CodeAnswer,
  EmailChange,
  PhoneChange,
  type Proof,
  ProvenRequest,
} from '../../../contract/account.js';
import { parseId } from '../../../lib/ids.js';
import { IdParams } from '../../path-id.js';
import { freshProof, proofProblems, proverOf } from '../../prover.js';
import type { App } from '../../route.js';

const answer = { 200: { ...Account, description: 'The account as it is now.' } };

/** One's own mail address and phone number: they differ in nothing but their names. */
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
      summary: `Set one's own ${what}: the first half`,
      description: `Sends a code to the new ${what}, which counts once that code is sent back. Needs ${freshProof}`,
      tags: ['Account'],
      body,
      response: { 201: { ...BegunChallenge, description: 'A code is on its way.' } },
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request, reply) {
      const asked = request.body as { readonly proof: Proof } & Partial<Record<AddressType, string>>;
      return reply.code(201).send(await addresses.begin(proverOf(request), type, asked[type] ?? '', asked.proof));
    },
  });

  app.route({
    method: 'POST',
    url: `/v1/account/${type}/:id`,
    schema: {
      operationId: `confirm${name}Change`,
      summary: `Set one's own ${what}: the second half`,
      description: `With the code, the ${what} counts and the old one no longer does. That it belongs to somebody else already is told only now (409).`,
      tags: ['Account'],
      params: IdParams,
      body: CodeAnswer,
      response: answer,
    },
    config: {
      access: 'session',
      problems: [
        ...(['code_rejected', 'identity_taken', 'account_locked'] as const),
        ...(['account_temporarily_locked', 'too_many_requests'] as const),
      ],
    },
    async handler(request) {
      return addresses.confirm(proverOf(request), type, parseId(request.params.id), request.body.secret);
    },
  });

  app.route({
    method: 'DELETE',
    url: `/v1/account/${type}`,
    schema: {
      operationId: `delete${name}`,
      summary: `Remove one's own ${what}`,
      description: `Where another identity remains. Needs ${freshProof}`,
      tags: ['Account'],
      body: ProvenRequest,
      response: answer,
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request) {
      return addresses.remove(proverOf(request), type, request.body.proof);
    },
  });
}
