/** Clients that may use HTTP/2, which is negotiated in TLS (ALPN, RFC 7301). */
import { agentProtocol } from '../../http/agent-protocol.ts';

/** Clients that use HTTP/2 if they offer `h2`: kubelets only, or all, as in kube-apiserver. */
export const http2Clients = ['all', 'agents'] as const;
export type Http2Clients = (typeof http2Clients)[number];

/** Protocols that a client offers, as a server's `ALPNCallback` receives them. */
interface Offer {
  readonly protocols: readonly string[];
}

/** Returns a server's `ALPNCallback`, which returns undefined if there is no common protocol. */
export const protocolChooser =
  (clients: Http2Clients) =>
  ({ protocols }: Offer): string | undefined => {
    const mayUseHttp2 = clients === 'all' || protocols.includes(agentProtocol);
    const chosen = mayUseHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'];
    return chosen.find((protocol) => protocols.includes(protocol));
  };
