/** What must hold before anything is started, each checked for one line that says what to do. */

import { request } from 'node:http';
import { createServer } from 'node:net';
import { errorMessage } from '../base/log.ts';

/** Rejects when the port is taken or may not be listened on. */
export function requireFreePort(address: string, port: number, flag: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? 'is taken by another process'
          : `can not be listened on (${error.code})`;
      reject(new Error(`port ${port} of ${address} ${why}; free it or give another --${flag}`));
    });
    server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

/** Rejects when no Docker engine answers at the socket. */
export function requireDocker(socketPath: string): Promise<void> {
  const advice = 'start it (systemctl start docker, or dockerd), or give its --docker-socket';
  return new Promise((resolve, reject) => {
    const ping = request({ socketPath, path: '/_ping', timeout: 5_000 }, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) resolve();
      else
        reject(new Error(`the Docker engine at ${socketPath} answers with ${answer.statusCode}; ${advice}`));
    });
    ping.once('timeout', () => ping.destroy(new Error('no answer within 5 s')));
    ping.once('error', (error) =>
      reject(new Error(`no Docker engine answers at ${socketPath} (${errorMessage(error)}); ${advice}`)),
    );
    ping.end();
  });
}

/** Network namespaces, links and firewall rules need it. */
export function requireRoot(): void {
  if (process.getuid?.() !== 0)
    throw new Error('minik8s sets up links and firewall rules: run it as root (sudo)');
}
