/** How this server reaches the node agents. */
import type { Duplex } from 'node:stream';
import type { UpgradedConnection, UpgradeRequest } from '../apiserver/server-context.ts';

/** Calls the HTTPS server of a node's agent; `path` begins with `/`. The answer's body is passed on as it comes. */
export interface NodeConnection {
  (
    node: string,
    path: string,
    signal: AbortSignal,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** Asks the agent to speak another protocol from then on; a Response is its refusal. */
  readonly upgrade?: (
    node: string,
    request: UpgradeRequest,
    signal: AbortSignal,
  ) => Promise<UpgradedConnection | Response>;
  /** A connection to the agent's server, on which nothing has been said yet. */
  readonly dial?: (node: string, signal: AbortSignal) => Promise<Duplex>;
}
