import type { AddressType } from '../../../../account/code-sender.js';
import type { OwnAddresses } from '../../../../account/own-addresses.js';
import { Account, EmailChange, PhoneChange } from '../../../../contract/account/account.js';
import { CodeAnswer, StartedChallenge } from '../../../../contract/account/code.js';
import { type Proof, ProvenRequest } from '../../../../contract/account/proof.js';
import { parseId } from '../../../../lib/ids.js';
import { IdParams } from '../../../requests/parameters.js';
import { callingSessionOf, freshProof, proofProblems } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

/** What a change has besides the address. */
interface AddressChange {
  readonly proof?: Proof;
  readonly human_check?: string;
}

const changedAccount = { 200: { ...Account, description: 'The changed account.' } };

/** Routes for the mail address and the phone number of the calling user. The routes for both differ only in their names. */
export function accountAddressRoutes(app: App, { addresses }: { addresses: OwnAddresses }): void {
  addressRoutes(app, addresses, { type: 'email', operation: 'Email', label: 'mail address', body: EmailChange });
  addressRoutes(app, addresses, { type: 'phone', operation: 'Phone', label: 'phone number', body: PhoneChange });
}

function addressRoutes(
  app: App,
  addresses: OwnAddresses,
  target: {
    readonly type: AddressType;
    /** The name of the address in the operation ids. */
    readonly operation: string;
    /** The name of the address in the descriptions. */
    readonly label: string;
    readonly body: typeof EmailChange | typeof PhoneChange;
  },
): void {
  const { type, operation, label, body } = target;
  app.route({
    method: 'POST',
    url: `/v1/account/${type}`,
    schema: {
      operationId: `start${operation}Change`,
      summary: `Set your ${label}: send the code`,
      description: `Sends a code to the new ${label}. The change takes effect when you confirm the code. Needs ${freshProof}`,
      body,
      response: { 201: { ...StartedChallenge, description: 'A code is sent.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'human_check_required'] },
    async handler(request, reply) {
      const change = request.body as AddressChange & Partial<Record<AddressType, string>>;
      const { [type]: value = '', proof, human_check: humanCheck } = change;
      const started = await addresses.begin(callingSessionOf(request), type, { value, proof, humanCheck });
      return reply.code(201).send(started);
    },
  });

  app.route({
    method: 'POST',
    url: `/v1/account/${type}/:id`,
    schema: {
      operationId: `confirm${operation}Change`,
      summary: `Set your ${label}: confirm the code`,
      description: `Send the code that the new ${label} received. The new ${label} then replaces the old one. If another user already has it, this request returns 409. The request that sends the code does not reveal this.`,
      params: IdParams,
      body: CodeAnswer,
      response: changedAccount,
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
      operationId: `delete${operation}`,
      summary: `Remove your ${label}`,
      description: `Returns 422 if the ${label} is your only identity. Needs ${freshProof}`,
      body: ProvenRequest,
      response: changedAccount,
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request) {
      return addresses.remove(callingSessionOf(request), type, request.body.proof);
    },
  });
}
