/** Options of a listener, and the contract of a function that serves requests without the app. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import type { Current } from '../../base/current.ts';
import type { Logger } from '../../base/log.ts';
import type { ApiServer } from '../app.ts';
import type { RequestEnv } from '../options.ts';
import type { Http2Clients } from './http2-clients.ts';

export interface ListenOptions {
  readonly app: Pick<ApiServer['app'], 'fetch'>;
  /** Serves a request without the app. Returns false to leave the request to the app. */
  readonly direct?: DirectServe;
  readonly address: string;
  /** 0 lets the operating system choose. */
  readonly port: number;
  /** Flag that sets the port, for messages; defaults to `--port`. */
  readonly flag?: string;
  readonly tls: {
    /** PEM. Connections that are opened after a change use the new identity. */
    readonly identity: Current<{ readonly key: string; readonly certificate: string }>;
    /**
     * Authorities (PEM) that may have signed client certificates; connections that are opened after a change
     * use the new ones. The server sends it along with its own
     * certificate: a joining machine compares the hash of the authority's key with the hash from its join
     * command.
     */
    readonly clientCA: string | Current<string>;
  };
  /** Stops the server: watches end at once, other requests when they are answered. */
  readonly signal: AbortSignal;
  /**
   * Called after the abort, before the port is closed, so that the owner can make new connections wait for
   * another process. Open connections end with their next answer, or a moment later. Must not reject.
   */
  readonly beforeClose?: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Clients that may use HTTP/2 if they offer it; defaults to `all`. */
  readonly http2?: Http2Clients;
  /** Default 6000; load/connections.ts describes the shares. */
  readonly maxConnections?: number;
  /** Timeout of the TLS handshake, and then of the head of a request; defaults to ten seconds. */
  readonly patienceMs?: number;
  /**
   * Time after which a connection is closed if the client reads nothing of the written data; defaults to one
   * minute.
   */
  readonly stalledMs?: number;
  /** Time after which a connection without requests is closed; defaults to three minutes. */
  readonly idleMs?: number;
}

/** Environment of a request that the app does not serve. */
export interface DirectWay {
  readonly env: RequestEnv & Required<Pick<RequestEnv, 'impersonation'>>;
  /**
   * Must be called with the status before the head of the answer is written. Decides whether the connection
   * stays open.
   */
  settle(status: number): void;
}

export type DirectServe = (incoming: IncomingMessage, outgoing: ServerResponse, way: DirectWay) => boolean;
