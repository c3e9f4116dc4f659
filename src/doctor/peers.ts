/** Tries whether this node reaches the other nodes of its cluster, and nothing else. */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock, Timer } from '../base/clock.ts';
import type { PeerReach, Reach } from './node-answer.ts';
import type { Peer } from './peers-plan.ts';

/** Maximum number of peers that are tried, and of peers that are tried at the same time. */
const maxPeers = 250;
const peersAtOnce = 16;

const connectTimeoutMs = 2_000;
const datagramTimeoutMs = 500;
const datagramTries = 4;
/** Port on which nothing listens, as traceroute uses it: the kernel of the peer answers that it is closed. */
const closedPort = 33_434;
/** Bytes of an IPv4 and a UDP header. */
const headerBytes = 28;
const smallBytes = 64;

/** Resolves to the results. `overlayMtu` is the MTU of the overlay's link; absent without one. */
export async function tryPeers(
  clock: Clock,
  peers: readonly Peer[],
  overlayMtu: number | undefined,
): Promise<readonly PeerReach[]> {
  const found: PeerReach[] = [];
  const left = peers.slice(0, maxPeers).entries();
  const trySome = async () => {
    for (const [index, peer] of left) found[index] = await tryPeer(clock, peer, overlayMtu);
  };
  await Promise.all(Array.from({ length: peersAtOnce }, trySome));
  return found;
}

async function tryPeer(
  clock: Clock,
  { node, address, port, overlayAddress }: Peer,
  overlayMtu: number | undefined,
): Promise<PeerReach> {
  const agent = await tryConnection(address, port);
  const base = { node, address, agent };
  if (agent.problem !== undefined || overlayAddress === undefined || overlayMtu === undefined) return base;
  const overlay = await tryConnection(overlayAddress, port);
  if (overlay.problem !== undefined) return { ...base, overlay };
  const small = await tryDatagram(clock, overlayAddress, smallBytes);
  // Without an answer to a small packet, a missing answer to a large one says nothing.
  if (small.problem !== undefined) return { ...base, overlay };
  return {
    ...base,
    overlay,
    large: { bytes: overlayMtu, ...(await tryDatagram(clock, overlayAddress, overlayMtu)) },
  };
}

/** Opens and closes a connection. A refused connection is an answer too. */
function tryConnection(host: string, port: number): Promise<Reach> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (reach: Reach) => {
      socket.destroy();
      resolve(reach);
    };
    socket.setTimeout(connectTimeoutMs, () =>
      end({ problem: `no answer within ${connectTimeoutMs / 1000} s` }),
    );
    socket.once('connect', () => end({}));
    socket.once('error', ({ code = 'error' }: NodeJS.ErrnoException) =>
      end(code === 'ECONNREFUSED' ? {} : { problem: code }),
    );
  });
}

/**
 * Sends packets of this size to a closed port. Linux sets the flag don't-fragment on datagrams that fit
 * into the MTU of their link.
 */
function tryDatagram(clock: Clock, host: string, bytes: number): Promise<Reach> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    const content = Buffer.alloc(bytes - headerBytes);
    let sent = 0;
    let timer: Timer | undefined;
    const end = (reach: Reach) => {
      timer?.cancel();
      socket.close();
      resolve(reach);
    };
    const send = () => {
      if (sent++ === datagramTries) return end({ problem: `no answer to ${datagramTries} packets` });
      socket.send(content);
      timer = clock.after(datagramTimeoutMs, send);
    };
    socket.once('error', ({ code = 'error' }: NodeJS.ErrnoException) =>
      end(code === 'ECONNREFUSED' ? {} : { problem: code }),
    );
    socket.connect(closedPort, host, send);
  });
}
