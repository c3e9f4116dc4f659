/** Why a connection or a request failed, in the words that Kubernetes' users know (Go's). */
import { errorMessage } from '../../../base/log.ts';

const connecting: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'cannot assign requested address',
};

/** `address`: of the other side, with its port. */
export function networkError(error: unknown, address: string): string {
  const { code: given, syscall, message } = error as NodeJS.ErrnoException;
  // An abort has a number for it.
  const code = typeof given === 'string' ? given : '';
  const why = connecting[code];
  if (why !== undefined && syscall === 'connect') return `dial tcp ${address}: connect: ${why}`;
  // What node says when a connection ends before the answer began.
  if (message === 'socket hang up') return 'EOF';
  if (code === 'ECONNRESET') return `read tcp ${address}: read: connection reset by peer`;
  if (code === 'EPIPE') return `write tcp ${address}: write: broken pipe`;
  if (code.startsWith('HPE_')) return `malformed HTTP response: ${message.replace(/^Parse Error: /, '')}`;
  if (/wrong version number|http request|packet length too long/.test(message))
    return 'http: server gave HTTP response to HTTPS client';
  return errorMessage(error);
}
