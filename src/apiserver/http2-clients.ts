/** Clients that get HTTP/2, which is agreed on in TLS (ALPN, RFC 7301). */
import { agentProtocol } from '../base/agent-protocol.ts';

/** Clients that get HTTP/2 where they offer `h2`: node agents only, or all, as of kube-apiserver. */
export const http2Clients = ['all', 'agents'] as const;
export type Http2Clients = (typeof http2Clients)[number];

/** The protocols that a client offers, as a server's `ALPNCallback` gets them. */
interface Offer {
  readonly protocols: readonly string[];
}

/** Makes a server's `ALPNCallback`, which returns undefined when no protocol is in common. */
export const protocolChooser =
  (clients: Http2Clients) =>
  ({ protocols }: Offer): string | undefined => {
    const mayUseHttp2 = clients === 'all' || protocols.includes(agentProtocol);
    const chosen = mayUseHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'];
    return chosen.find((protocol) => protocols.includes(protocol));
  };
