/**
 * The client of object-metrics.ts, in a process of its own: connects, and reads the page on each request of
 * its parent.
 */
import { Agent, get, type RequestOptions } from 'node:https';

export interface PageTask {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
}

export interface PageAnswer {
  readonly firstByteMs: number;
  readonly wholeMs: number;
  readonly bytes: number;
}

function read(options: RequestOptions): Promise<PageAnswer> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(options, (answer) => {
      if (answer.statusCode !== 200)
        reject(new Error(`${options.path} was answered with ${answer.statusCode}`));
      let firstByteMs = 0;
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        if (bytes === 0) firstByteMs = performance.now() - start;
        bytes += chunk.length;
      });
      answer.on('end', () => resolve({ firstByteMs, wholeMs: performance.now() - start, bytes }));
      answer.on('error', reject);
    });
    request.on('error', reject);
  });
}

process.once('message', async ({ path, ...identity }: PageTask) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...identity });
  const to = { host: '127.0.0.1', port: identity.port, agent };
  await read({ ...to, path: '/version' });
  process.on('message', async () => {
    process.send?.(await read({ ...to, path }));
  });
  process.send?.('connected');
});
