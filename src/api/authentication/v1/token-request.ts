/** Request for a token of a service account: body and response of `serviceaccounts/NAME/token`. */
import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { KubeObject, ObjectMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { reviewTraits } from '../../authorization/v1/access-review.ts';
import { authenticationGroup } from './token-review.ts';
import type { TokenRequestSpec, TokenRequestStatus } from './types.gen.ts';

export interface TokenRequest extends KubeObject {
  metadata: ObjectMeta;
  spec: TokenRequestSpec & { expirationSeconds: number };
  status?: TokenRequestStatus;
}

/** Minimum, default and maximum of the validity in seconds. */
const [least, usual, most] = [600, 3600, 2 ** 32];

/** The kind has no address of its own, so it is not among the served kinds. */
export const tokenRequestKind: ResourceDefinition<TokenRequest> = {
  ...reviewTraits,
  group: authenticationGroup,
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  singular: 'tokenrequest',
  namespaced: true,
  typeName: 'authentication.v1.TokenRequest',
  rules: {
    'authentication.v1.TokenRequest': { defaults: { spec: {} } },
    'authentication.v1.TokenRequestSpec': {
      acts: 'audiences expirationSeconds boundObjectRef',
      defaults: { expirationSeconds: usual },
    },
    'authentication.v1.TokenRequestStatus': {},
    'authentication.v1.BoundObjectReference': {},
  },
  strategy: {
    countsGenerations: false,
    validate: ({ spec: { expirationSeconds } }) => {
      const refuse = (why: string) => [invalidCause('spec.expirationSeconds', expirationSeconds, why)];
      if (expirationSeconds < least) return refuse('may not specify a duration less than 10 minutes');
      return expirationSeconds > most ? refuse('may not specify a duration larger than 2^32 seconds') : [];
    },
  },
};
