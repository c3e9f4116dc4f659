/**
 * The agent's side of exec, attach, port-forward and connections to pods: from an upgrade request to the end
 * of its streams.
 */
import type { IncomingMessage } from 'node:http';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Clock } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/log.ts';
import { joinConnections } from '../../../streams/join-connections.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { ContainerRuntime } from '../../runtime/runtime.ts';
import { RequestError } from '../plan/log-request.ts';
import type { CommandSession } from './command-session.ts';
import { connectTo } from './connect-to.ts';
import {
  spdyCommandProtocol,
  spdyPortForwardProtocol,
  webSocketCommandProtocol,
  webSocketPortForwardProtocol,
} from './negotiate.ts';
import type { Outcome } from './outcome.ts';
import { type Forward, forwardChannels, forwardSpdy } from './port-forward.ts';
import { openSpdyCommand } from './spdy-command.ts';
import {
  findPod,
  parseStreamRequest,
  runningContainer,
  runningSandbox,
  type StreamRequest,
} from './stream-request.ts';
import { acceptByteStream, type Upgrade } from './websocket.ts';
import { openWebSocketCommand } from './websocket-command.ts';

export interface StreamServerOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
  /** Address at which pods in the host's network listen. */
  readonly nodeIP: string;
}

type Command = Extract<StreamRequest, { readonly container: string }>;
type PortForward = Extract<StreamRequest, { readonly kind: 'portForward' }>;

/**
 * Serves a stream; resolves when the connection is closed, whatever the outcome. Throws RequestError while
 * the request has not been answered; any other error comes from a client that disconnected after its upgrade
 * was accepted.
 */
export async function serveStream(
  options: StreamServerOptions,
  upgrade: Upgrade,
  signal: AbortSignal,
): Promise<void> {
  const { request, socket } = upgrade;
  const wanted = parseStreamRequest(new URL(request.url ?? '/', 'https://kubelet'));
  if (!wanted) throw new RequestError(404, 'page not found');
  const pod = findPod(options.pods(), wanted);
  const stop = () => socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (wanted.kind === 'connect') await serveConnection(options, upgrade, wanted, pod);
    else if (wanted.kind === 'portForward') await servePortForward(options, upgrade, wanted, pod, signal);
    else await serveCommand(options, upgrade, wanted, pod, signal);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Serves one TCP connection to the pod's address, for an API server without a route to it (pods/NAME/proxy).
 */
async function serveConnection(
  { clock, observe, nodeIP }: StreamServerOptions,
  { socket, head }: Upgrade,
  { port }: Extract<StreamRequest, { readonly kind: 'connect' }>,
  pod: Pod,
): Promise<void> {
  const { ip } = runningSandbox(observe(pod.metadata.uid), pod);
  const connection = await connectTo(ip ?? nodeIP, port, clock);
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
  if (head.length > 0) socket.unshift(head);
  await joinConnections(socket, connection, clock);
}

async function serveCommand(
  { runtime, clock, observe }: StreamServerOptions,
  upgrade: Upgrade,
  wanted: Command,
  pod: Pod,
  signal: AbortSignal,
): Promise<void> {
  const id = runningContainer(observe(pod.metadata.uid), wanted.container, pod);
  const session = await openCommand(upgrade, wanted, clock);
  const ended = AbortSignal.any([signal, session.gone]);
  const outcome = await outcomeOf(wanted.kind, async () => {
    if (wanted.kind === 'attach') {
      await runtime.attach(id, session.streams, ended);
      return { exitCode: 0 };
    }
    const config = { command: wanted.command, tty: wanted.wanted.tty };
    return { exitCode: await runtime.exec(id, config, session.streams, ended) };
  });
  await session.finish(outcome);
}

/** Beginning of an error message, as in Kubernetes; clients look for it. */
const failureOf: Readonly<Record<Command['kind'], string>> = {
  attach: 'error attaching to container',
  exec: 'error executing command in container',
};

async function outcomeOf(kind: Command['kind'], run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    return { failure: `${failureOf[kind]}: ${errorMessage(error)}` };
  }
}

function openCommand(upgrade: Upgrade, { wanted }: Command, clock: Clock): Promise<CommandSession> {
  const { request, socket } = upgrade;
  if (isWebSocket(request)) {
    const protocol = webSocketCommandProtocol(request.headers['sec-websocket-protocol']);
    if (!protocol) throw unknownProtocol(request.headers['sec-websocket-protocol']);
    return openWebSocketCommand(upgrade, wanted, protocol);
  }
  const protocol = spdyCommandProtocol(streamProtocols(request));
  if (!protocol) throw unknownProtocol(streamProtocols(request));
  acceptSpdy(upgrade, protocol);
  return openSpdyCommand({ transport: socket, wanted, protocol, clock });
}

async function servePortForward(
  { runtime, clock, observe }: StreamServerOptions,
  upgrade: Upgrade,
  { ports }: PortForward,
  pod: Pod,
  signal: AbortSignal,
): Promise<void> {
  const { request, socket } = upgrade;
  const { id: sandbox } = runningSandbox(observe(pod.metadata.uid), pod);
  const forward: Forward = async (port, stream, ended) => {
    try {
      await runtime.portForward(sandbox, port, stream, ended);
    } catch (error) {
      const { name, uid } = pod.metadata;
      throw new Error(`error forwarding port ${port} to pod ${name}, uid ${uid}: ${errorMessage(error)}`);
    }
  };
  if (!isWebSocket(request)) {
    const protocol = spdyPortForwardProtocol(streamProtocols(request));
    if (!protocol) throw unknownProtocol(streamProtocols(request));
    acceptSpdy(upgrade, protocol);
    return forwardSpdy(socket, forward, clock, signal);
  }
  const offered = request.headers['sec-websocket-protocol'];
  const protocol = webSocketPortForwardProtocol(offered);
  if (!protocol) throw unknownProtocol(offered);
  if (protocol.carries === 'spdy') {
    return forwardSpdy(await acceptByteStream(upgrade, protocol.protocol), forward, clock, signal);
  }
  if (ports.length === 0) throw new RequestError(400, 'query parameter "port" is required');
  return forwardChannels(upgrade, protocol, ports, forward, clock, signal);
}

/** Throws RequestError for an upgrade to anything else but SPDY/3.1. */
function isWebSocket(request: IncomingMessage): boolean {
  const wanted = request.headers.upgrade?.toLowerCase();
  if (wanted === 'websocket') return true;
  if (wanted === 'spdy/3.1') return false;
  throw new RequestError(400, `cannot upgrade to ${wanted}: only WebSocket and SPDY/3.1 are supported`);
}

/** Returns the offered protocols; Node joins headers of one name by commas. */
function streamProtocols(request: IncomingMessage): string | undefined {
  const value = request.headers['x-stream-protocol-version'];
  return value === undefined ? undefined : [value].flat().join(',');
}

function unknownProtocol(offered: string | undefined): RequestError {
  return new RequestError(400, `none of the client's protocols is supported: ${offered || 'it named none'}`);
}

function acceptSpdy({ socket, head }: Upgrade, protocol: string): void {
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    `X-Stream-Protocol-Version: ${protocol}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
}
