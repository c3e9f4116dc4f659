/** Connections from this server to kubelets. */
import type { Duplex } from 'node:stream';
import type { UpgradedConnection, UpgradeRequest } from '../apiserver/server-context.ts';

/** Calls the HTTPS server of a kubelet; `path` begins with `/`. The body of the answer is streamed. */
export interface NodeConnection {
  (
    node: string,
    path: string,
    signal: AbortSignal,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** Asks the kubelet to upgrade the connection to another protocol; a Response is its rejection. */
  readonly upgrade?: (
    node: string,
    request: UpgradeRequest,
    signal: AbortSignal,
  ) => Promise<UpgradedConnection | Response>;
  /** Opens a connection to the kubelet's server, on which nothing has been sent yet. */
  readonly dial?: (node: string, signal: AbortSignal) => Promise<Duplex>;
}
