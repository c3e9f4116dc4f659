/**
 * Connections for /proxy. The kubelet of a pod's node connects to the pod, because a master may have no route
 * to it.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import type { NodeConnection } from '../node-connection.ts';
import { agentPath, hostOf } from '../subresources/pod-agent.ts';
import { type NodeLocation, type PodLocation, unavailable } from './location.ts';

/** Timeout in milliseconds, as in upstream's transport. */
const patienceMs = 30_000;

/** Opens the connection for an HTTP request. Rejects with a Status if the backend does not answer. */
export type Dial = (signal: AbortSignal) => Promise<Duplex>;

export const unreachable = (why: string) => unavailable(`error trying to reach service: ${why}`);

export function dialPod(
  agents: NodeConnection | undefined,
  clock: Clock,
  { scheme, pod, port }: PodLocation,
  /** Additional headers for the kubelet. */
  more: Readonly<Record<string, string>> = {},
): Dial {
  return async (signal) => {
    const node = hostOf(pod);
    const path = `/connect/${agentPath(pod, String(port))}`;
    const headers = { ...more, connection: 'Upgrade', upgrade: 'tcp' };
    const answer = await agents?.upgrade?.(node, { method: 'POST', path, headers }, signal);
    if (!answer) throw unavailable('this server is not connected to the node agents');
    if (answer instanceof Response) throw unreachable((await answer.text()).trim().slice(0, 1000));
    return scheme === 'https' ? encrypted(answer.socket, clock, signal) : answer.socket;
  };
}

/** Connects to a pod that this machine has a route to. */
export function dialPodDirectly(clock: Clock, address: string, port: number): Dial {
  return async (signal) => {
    const socket = connect({ host: address, port, noDelay: true });
    await connected(socket, 'connect', clock, signal);
    return socket;
  };
}

export function dialNode(
  agents: NodeConnection | undefined,
  clock: Clock,
  node: string,
  location: NodeLocation,
): Dial {
  return async (signal) => {
    if (location === 'agent') {
      if (!agents?.dial) throw unavailable('this server is not connected to the node agents');
      return agents.dial(node, signal);
    }
    const { scheme, address, port } = location;
    const socket = connect({ host: address, port, noDelay: true });
    await connected(socket, 'connect', clock, signal);
    return scheme === 'https' ? encrypted(socket, clock, signal) : socket;
  };
}

/**
 * Starts TLS, without verification by default, because certificates of pods cannot be verified (upstream:
 * InsecureSkipVerify).
 */
export async function encrypted(
  socket: Duplex,
  clock: Clock,
  signal: AbortSignal,
  options: ConnectionOptions = { rejectUnauthorized: false },
): Promise<TLSSocket> {
  const secured = connectTls({ ...options, socket, ALPNProtocols: ['http/1.1'] });
  await connected(secured, 'secureConnect', clock, signal);
  return secured;
}

async function connected(socket: Duplex, event: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  const timer = clock.after(patienceMs, () => late.abort());
  try {
    await once(socket, event, { signal: AbortSignal.any([signal, late.signal]) });
  } catch (error) {
    socket.on('error', () => undefined);
    socket.destroy();
    throw unreachable(late.signal.aborted ? `no connection within ${patienceMs} ms` : errorMessage(error));
  } finally {
    timer.cancel();
  }
}
