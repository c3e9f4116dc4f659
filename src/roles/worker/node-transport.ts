/** The connection of a node to its API servers. */
import type { Clock } from '../../base/clock.ts';
import type { Current } from '../../base/current.ts';
import type { Logger } from '../../base/log.ts';
import { version } from '../../base/version.ts';
import { createFailoverTransport } from '../../client/failover-transport.ts';
import { createHttp2Transport } from '../../client/http2-transport.ts';
import type { Transport } from '../../client/transport.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';

export interface NodeTransportOptions {
  /** URLs such as `https://127.0.0.1:6443`; at least one. */
  readonly servers: readonly string[];
  /** PEM of the cluster's authorities. */
  readonly authority: string | Current<string>;
  readonly clock: Clock;
  readonly log: Logger;
  /** The credentials: a certificate, or a bootstrap token before there is one. */
  readonly identity?: Current<KeyAndCertificate>;
  readonly token?: string;
}

export function nodeTransport({ servers, authority, clock, log, ...who }: NodeTransportOptions): Transport {
  // The user agent makes the node's entries in managedFields those of the kubelet, as upstream.
  const userAgent = `kubelet/${version()}`;
  const connect = (server: string) =>
    createHttp2Transport({ server, ca: authority, userAgent, clock, ...who });
  const [only = '', ...others] = servers;
  // A single server has nothing to fail over to.
  if (others.length === 0) return connect(only);
  return createFailoverTransport({ servers, connect, clock, log: log.named('api') });
}
