/** Namespaces, Leases and CertificateSigningRequests. */
import {
  type CertificateSigningRequest,
  certificateSigningRequestResource,
} from '../../../api/certificates/v1/certificate-signing-request.ts';
import { type Lease, leaseResource } from '../../../api/coordination/v1/lease.ts';
import { type Namespace, namespaceResource } from '../../../api/core/v1/namespace.ts';
import { conditions } from '../condition-samples.ts';
import { gauge, gauges, objectMetrics, seconds } from '../family.ts';
import { created, named, owners } from '../metadata-families.ts';

const phases = ['Active', 'Terminating'];

export const namespaces = objectMetrics<Namespace>({
  ref: namespaceResource,
  labelsOf: named('namespace'),
  families: [
    created('kube_namespace'),
    gauges('kube_namespace_status_phase', 'The phase of the namespace.', ({ status }) =>
      phases.map((phase) => ({ labels: { phase }, value: Number(phase === status?.phase) })),
    ),
    conditions(
      'kube_namespace_status_condition',
      'The conditions of the namespace.',
      ({ status }) => status?.conditions,
    ),
  ],
});

export const leases = objectMetrics<Lease>({
  ref: leaseResource,
  labelsOf: named('lease'),
  families: [
    owners('kube_lease_owner', (owner, object) => ({
      owner_kind: owner?.kind ?? '',
      owner_name: owner?.name ?? '',
      namespace: object.metadata.namespace ?? '',
      lease_holder: (object as Lease).spec?.holderIdentity ?? '',
    })),
    gauges(
      'kube_lease_renew_time',
      'Last renewal of the Lease, in seconds since the epoch.',
      ({ metadata, spec }) => {
        const value = seconds(spec?.renewTime);
        return value === undefined ? [] : [{ labels: { namespace: metadata.namespace ?? '' }, value }];
      },
    ),
  ],
});

const decisions = ['Approved', 'Denied', 'Failed'];

export const certificateSigningRequests = objectMetrics<CertificateSigningRequest>({
  ref: certificateSigningRequestResource,
  labelsOf: ({ metadata, spec }) => ({
    certificatesigningrequest: metadata.name,
    signer_name: spec.signerName,
  }),
  families: [
    created('kube_certificatesigningrequest'),
    gauges(
      'kube_certificatesigningrequest_condition',
      'Number of conditions of the request, by type.',
      ({ status }) =>
        decisions.map((decision) => ({
          labels: { condition: decision.toLowerCase() },
          value: (status?.conditions ?? []).filter(({ type }) => type === decision).length,
        })),
    ),
    gauge(
      'kube_certificatesigningrequest_cert_length',
      'Length of the issued certificate, in bytes.',
      ({ status }) => Buffer.from(status?.certificate ?? '', 'base64').length,
    ),
  ],
});
