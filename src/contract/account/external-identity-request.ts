import { Type } from 'typebox';
import { redirectMembers } from '../authentication.js';
import { ProofUnlessGuest, proofExample } from './proof.js';

/** The start of a link to an account at a provider. */
export const ExternalIdentityRequest = Type.Object(
  { proof: ProofUnlessGuest, ...redirectMembers },
  {
    title: 'ExternalIdentityRequest',
    examples: [
      { proof: proofExample },
      {
        proof: proofExample,
        redirect_to: 'https://app.example.com/callback',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      },
    ],
  },
);
