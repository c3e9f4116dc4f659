/** The metrics page of an embedded etcd. */
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

const answerTimeoutMs = 5000;

/** Requests the page through etcd's unix socket. Rejects if etcd does not answer within five seconds. */
export function readEtcdMetrics(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'etcd' };
    const asked = request({ socketPath, path: '/metrics', headers, timeout: answerTimeoutMs });
    asked.once('timeout', () => asked.destroy(new Error(`no answer within ${answerTimeoutMs / 1000} s`)));
    asked.once('error', reject);
    asked.once('response', (answer: IncomingMessage) => text(answer).then(resolve, reject));
    asked.end();
  });
}
