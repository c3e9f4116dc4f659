/** Formats network errors with Go's messages, as Kubernetes shows them. */
import { errorMessage } from '../../../base/log.ts';

const connecting: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'cannot assign requested address',
};

/** Returns the text of an error. `address` is the server's address with its port. */
export function networkError(error: unknown, address: string): string {
  const { code: given, syscall, message } = error as NodeJS.ErrnoException;
  // The code of an abort is a number.
  const code = typeof given === 'string' ? given : '';
  const why = connecting[code];
  if (why !== undefined && syscall === 'connect') return `dial tcp ${address}: connect: ${why}`;
  // Node's message when a connection ends before the response began.
  if (message === 'socket hang up') return 'EOF';
  if (code === 'ECONNRESET') return `read tcp ${address}: read: connection reset by peer`;
  if (code === 'EPIPE') return `write tcp ${address}: write: broken pipe`;
  if (code.startsWith('HPE_')) return `malformed HTTP response: ${message.replace(/^Parse Error: /, '')}`;
  if (/wrong version number|http request|packet length too long/.test(message))
    return 'http: server gave HTTP response to HTTPS client';
  return errorMessage(error);
}
