/**
 * The connections of node agents: HTTP/2, so that the half dozen watches of each share one. A thousand nodes' TLS
 * connections were most of what the server held in memory.
 */
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { agentProtocol } from '../base/agent-protocol.ts';
import type { Clock } from '../base/clock.ts';
import { Http2Liveness } from '../base/http2-liveness.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { serveAgentStream } from './agent-stream.ts';
import { nodeWatches } from './load/in-flight.ts';
import { lingerThenDestroy } from './load/linger.ts';
import type { RequestEnv } from './options.ts';

export interface AgentConnections {
  /** Accepts no new requests; connections end with the requests that are under way. */
  drain(): void;
}

/** The answer to a request that came over that connection. */
export type Answer = (
  request: Request,
  socket: TLSSocket,
  way: Pick<RequestEnv, 'push' | 'onClosed' | 'impersonation'>,
) => Promise<Response>;

/** TCP probes a connection on which nothing was heard for this long: also one that ends with its last stream. */
const keepAliveMs = 15_000;
/** At once on one connection: the watches of a node and its requests (decision 21). */
const maxStreams = nodeWatches + 200;
/** A connection that carries no request is closed after this. */
const idleMs = 180_000;
/** How long its other side may take to close it too. */
const goodbyeMs = 30_000;

/** For the server's `ALPNCallback`: HTTP/2 is only for clients that offer the agent protocol. */
export function chooseProtocol({ protocols }: { readonly protocols: readonly string[] }): string | undefined {
  const chosen = protocols.includes(agentProtocol) ? 'h2' : 'http/1.1';
  return protocols.includes(chosen) ? chosen : undefined;
}

/** Takes over the connections of agents of a server that chooses its protocol so. */
export function serveAgents(
  server: Server,
  answer: Answer,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): AgentConnections {
  const sessions = new Map<ServerHttp2Session, TLSSocket>();
  const http2 = createSecureServer({ settings: { maxConcurrentStreams: maxStreams } });
  const lookAfter = (session: ServerHttp2Session, socket: TLSSocket) => {
    sessions.set(session, socket);
    const liveness = new Http2Liveness(session, {
      clock,
      onLost: () => {
        log.debug('a node agent does not answer; closing its connection');
        session.destroy();
      },
      idleMs,
      onIdle: () => part(),
    });
    const part = () => {
      if (session.closed) return;
      session.close();
      const late = clock.after(goodbyeMs, () => socket.destroy());
      socket.once('close', () => late.cancel());
    };
    session.on('stream', (stream, headers, _flags, raw) => {
      liveness.carries(stream);
      // An agent has a certificate. The first answer to anybody else is the last of the connection, as in HTTP/1.1.
      if (!socket.authorized) stream.once('close', part);
      serveAgentStream(stream, headers, raw, (request, way) => answer(request, socket, way)).catch(
        (error) => {
          log.error('a request of a node agent was not answered', { error: errorMessage(error) });
          stream.destroy();
        },
      );
    });
    session.on('error', (error) =>
      log.debug('a connection of a node agent failed', { error: error.message }),
    );
    session.once('close', () => sessions.delete(session));
  };
  const others = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') {
      socket.setKeepAlive(true, keepAliveMs);
      http2.once('session', (session) => lookAfter(session, socket));
      http2.emit('secureConnection', socket);
    } else for (const listen of others) Reflect.apply(listen, server, [socket]);
  });
  return {
    drain: () => {
      for (const [session, socket] of sessions) {
        session.close();
        lingerThenDestroy(socket, clock);
      }
    },
  };
}
