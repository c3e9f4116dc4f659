/** Selects the protocol to use among those that a client offers. Pure. */
import { maxProtocolsBytes } from '../../../http/header-limits.ts';
import { RequestError } from '../plan/log-request.ts';

export interface CommandProtocol {
  /** '' when the client offered none. */
  readonly protocol: string;
  readonly base64: boolean;
  /** True when the outcome is sent as a Status; protocols before v4 use plain text. */
  readonly status: boolean;
}

const webSocketCommands: readonly CommandProtocol[] = [
  { protocol: 'v5.channel.k8s.io', base64: false, status: true },
  { protocol: 'v4.channel.k8s.io', base64: false, status: true },
  { protocol: 'v3.channel.k8s.io', base64: false, status: false },
  { protocol: 'v2.channel.k8s.io', base64: false, status: false },
  { protocol: 'channel.k8s.io', base64: false, status: false },
  { protocol: '', base64: false, status: false },
  { protocol: 'v4.base64.channel.k8s.io', base64: true, status: true },
  { protocol: 'base64.channel.k8s.io', base64: true, status: false },
];

/** Selects the protocol of exec and attach; undefined when none of the client's is supported. */
export function webSocketCommandProtocol(offered: string | undefined): CommandProtocol | undefined {
  return firstOf(namesOrNone(offered), webSocketCommands, ({ protocol }) => protocol);
}

export interface LogProtocol {
  /** '' when the client offered none. */
  readonly protocol: string;
  readonly base64: boolean;
}

const webSocketLogs: readonly LogProtocol[] = [
  { protocol: '', base64: false },
  { protocol: 'binary.k8s.io', base64: false },
  { protocol: 'base64.binary.k8s.io', base64: true },
];

/** Selects the protocol of a log, which is one stream; undefined when none of the client's is supported. */
export function webSocketLogProtocol(offered: string | undefined): LogProtocol | undefined {
  return firstOf(namesOrNone(offered), webSocketLogs, ({ protocol }) => protocol);
}

const spdyCommands = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];

export function spdyCommandProtocol(offered: string | undefined): string | undefined {
  return firstOf(namesOf(offered), spdyCommands, (name) => name);
}

/**
 * `protocol` is '' when the client offered none (k8s.io/kubelet portforward/websocket.go: binary channels).
 */
export type PortForwardProtocol =
  | { readonly protocol: string; readonly carries: 'spdy' }
  | { readonly protocol: string; readonly carries: 'channels'; readonly base64: boolean };

const webSocketPortForwards: readonly PortForwardProtocol[] = [
  { protocol: 'SPDY/3.1+portforward.k8s.io', carries: 'spdy' },
  { protocol: '', carries: 'channels', base64: false },
  { protocol: 'v4.channel.k8s.io', carries: 'channels', base64: false },
  { protocol: 'v4.base64.channel.k8s.io', carries: 'channels', base64: true },
];

export function webSocketPortForwardProtocol(offered: string | undefined): PortForwardProtocol | undefined {
  return firstOf(namesOrNone(offered), webSocketPortForwards, ({ protocol }) => protocol);
}

export function spdyPortForwardProtocol(offered: string | undefined): string | undefined {
  return firstOf(namesOf(offered), ['portforward.k8s.io'], (name) => name);
}

/** Returns the protocols that a WebSocket offers; '' alone when it offers none. */
function namesOrNone(offered: string | undefined): string[] {
  const names = namesOf(offered);
  return names.length === 0 ? [''] : names;
}

/**
 * Splits a header that contains a list; several headers of the name have been joined by commas already.
 * Throws RequestError (400) for one that is too long.
 */
function namesOf(header = ''): string[] {
  if (header.length > maxProtocolsBytes) {
    throw new RequestError(400, `the list of protocols is longer than ${maxProtocolsBytes} bytes`);
  }
  return header.split(',').flatMap((name) => name.trim() || []);
}

/** Returns the first supported protocol in the client's order. */
function firstOf<T>(
  offered: readonly string[],
  known: readonly T[],
  nameOf: (item: T) => string,
): T | undefined {
  for (const name of offered) {
    const found = known.find((item) => nameOf(item) === name);
    if (found !== undefined) return found;
  }
  return undefined;
}
