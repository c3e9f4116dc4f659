/**
 * Checks PodCertificateRequests: the node must possess the key, the certificate must be for it, and a user
 * who ends a request must be allowed to sign for its signer (upstream: the strategies of the kind).
 */

import { outcomeOf } from '../../api/certificates/v1/pod-certificate-outcome.ts';
import {
  type PodCertificateRequest,
  podCertificateRequestResource as resource,
} from '../../api/certificates/v1/pod-certificate-request.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { forbiddenCause } from '../../apimachinery/field-error.ts';
import { newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';
import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { UserInfo } from '../../apiserver/request/user.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import type { KubeContext } from '../context.ts';
import { chainCauses } from './pod-certificate-chain.ts';
import { keyCauses } from './pod-certificate-key.ts';
import { mayActForSigner } from './signer-access.ts';

type Parts = Pick<KubeContext, 'authorize' | 'clock' | 'turns'>;

export const podCertificateRequests = (server: Parts): AdmissionPlugin => ({
  name: 'PodCertificateRequests',
  async validate({ definition, object, old, subresource, user }) {
    if (definition.group !== resource.group || definition.plural !== resource.plural || !object) return;
    const request = object as PodCertificateRequest;
    const before = old as PodCertificateRequest | undefined;
    const causes =
      before === undefined
        ? keyCauses(request.spec.stubPKCS10Request)
        : subresource === 'status'
          ? await statusCauses(server, user, request, before)
          : [];
    if (causes.length > 0) throw newInvalid(resource, request.metadata.name, causes);
  },
});

async function statusCauses(
  server: Parts,
  user: UserInfo,
  request: PodCertificateRequest,
  before: PodCertificateRequest,
): Promise<StatusCause[]> {
  if (deepEqual(request.status ?? {}, before.status ?? {})) return [];
  const isNewlyIssued = outcomeOf(request)?.type === 'Issued' && !outcomeOf(before);
  const causes = isNewlyIssued
    ? await new RequestWork(server).through(chainCauses(request, server.clock.now()))
    : [];
  if (causes.length > 0) return causes;
  const { signerName } = before.spec;
  if (await mayActForSigner(server, user, 'sign', signerName)) return [];
  const quoted = JSON.stringify(signerName);
  const why = `User ${JSON.stringify(user.name)} is not permitted to "sign" for signer ${quoted}`;
  return [forbiddenCause('spec.signerName', why)];
}
