/** The remaining lifetime of a node's certificates, under upstream's names. */
import { gauge, single } from '../../../base/metrics/metric-family.ts';

/** Expiry of each certificate, in milliseconds since the epoch; undefined where there is none. */
export interface CertificateEnds {
  readonly client: number | undefined;
  readonly server: number | undefined;
}

export function certificateMetrics({ client, server }: CertificateEnds, now: number) {
  const left = (end: number | undefined) => single(end === undefined ? undefined : (end - now) / 1000);
  return [
    gauge(
      'kubelet_certificate_manager_client_ttl_seconds',
      'Seconds until the client certificate of this node expires; negative once it has expired.',
      left(client),
    ),
    gauge(
      'kubelet_certificate_manager_server_ttl_seconds',
      'Seconds until the serving certificate of this node expires; negative once it has expired.',
      left(server),
    ),
  ];
}
