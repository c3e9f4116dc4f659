/** AdmissionReview requests, in the versions v1 and v1beta1, which have the same fields. */
import { reviewVersions } from '../../../api/admissionregistration/v1/webhook-validation.ts';
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { Address, HookedRequest } from '../../admission-requests/plan/request.ts';
import type { ShownObjects } from '../../admission-requests/plan/shown-objects.ts';
import type { Invocation } from './invocation.ts';

export type ReviewVersion = (typeof reviewVersions)[number];

/** Returns the first version in the webhook's list that this server supports. */
export const reviewVersionOf = ({ hook }: Invocation): ReviewVersion | undefined => {
  for (const version of hook.webhook.admissionReviewVersions ?? []) {
    const known = reviewVersions.find((one) => one === version);
    if (known) return known;
  }
  return undefined;
};

export function admissionReview(
  { address }: Pick<Invocation, 'address'>,
  request: HookedRequest,
  version: ReviewVersion,
  uid: string,
  { object, old }: ShownObjects,
): JsonObject {
  const { operation, subresource, name, namespace, user, dryRun, options } = request;
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: {
      uid,
      kind: address.kind,
      resource: resourceOf(address),
      ...(subresource && { subResource: subresource }),
      requestKind: request.address.kind,
      requestResource: resourceOf(request.address),
      ...(subresource && { requestSubResource: subresource }),
      ...(name && { name }),
      ...(namespace && { namespace }),
      operation,
      userInfo: {
        username: user.name,
        ...(user.uid && { uid: user.uid }),
        groups: user.groups,
        ...(user.extra && { extra: user.extra }),
      },
      object: object ?? null,
      oldObject: old ?? null,
      dryRun,
      options: options ?? null,
    },
  };
}

const resourceOf = ({ group, version, resource }: Address) => ({ group, version, resource });
