/** The clients of load.ts, in a process of their own so that they do not delay the prober. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';

export interface ClientsTask {
  readonly port: number;
  readonly ca: string;
  /** Users; each has a key and a certificate of its own. */
  readonly users: readonly { readonly key: string; readonly cert: string }[];
  readonly task:
    | { readonly type: 'secrets'; readonly count: number; readonly bytes: number }
    | { readonly type: 'read'; readonly clients: number; readonly path: string; readonly accept: string }
    | { readonly type: 'watch'; readonly count: number; readonly path: string; readonly deaf: boolean }
    | { readonly type: 'connect'; readonly count: number }
    | { readonly type: 'leave' };
}

export interface ClientsAnswer {
  readonly ms: number;
  /** Bytes read, or number of open connections. */
  readonly amount: number;
}

const open: TLSSocket[] = [];

async function read(options: object, path: string, accept: string, method = 'GET', body?: string) {
  const headers = { accept, 'content-type': 'application/json' };
  const outgoing = request({ ...options, path, method, headers });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  if ((response.statusCode ?? 0) >= 300) throw new Error(`${method} ${path}: ${response.statusCode}`);
  return bytes;
}

async function inLanes(count: number, wide: number, work: (number: number) => Promise<unknown>) {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: wide }, lane));
}

async function connected(options: object): Promise<TLSSocket> {
  const socket = connect(options);
  // Some connections are refused; the open connections are counted at the end.
  socket.on('error', () => undefined);
  open.push(socket);
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => undefined);
  return socket;
}

const stillOpen = () => open.filter((socket) => !socket.closed && !socket.connecting).length;

async function run({ port, ca, users, task }: ClientsTask): Promise<number> {
  const as = (number: number) => ({ host: '127.0.0.1', port, ca, ...users[number % users.length] });
  switch (task.type) {
    case 'secrets': {
      const stringData = { text: 'x'.repeat(task.bytes) };
      const path = '/api/v1/namespaces/default/secrets';
      for (let number = 0; number < task.count; number++) {
        const body = JSON.stringify({ metadata: { name: `load-${number}` }, stringData });
        await read({ ...as(number), agent: false }, path, 'application/json', 'POST', body);
      }
      return task.count;
    }
    case 'read': {
      const all = Array.from({ length: task.clients }, (_, client) =>
        read({ ...as(client), agent: false }, task.path, task.accept),
      );
      return (await Promise.all(all)).reduce((sum, bytes) => sum + bytes, 0);
    }
    case 'watch':
      await inLanes(task.count, 20, async (number) => {
        const socket = await connected(as(number));
        socket.write(`GET ${task.path} HTTP/1.1\r\nHost: apiserver\r\n\r\n`);
        if (task.deaf) socket.pause();
        else socket.resume();
      });
      return stillOpen();
    case 'connect':
      await inLanes(task.count, 50, () => connected({ host: '127.0.0.1', port, ca }));
      return stillOpen();
    case 'leave': {
      const left = stillOpen();
      for (const socket of open.splice(0)) socket.destroy();
      return left;
    }
  }
}

process.on('message', async (task: ClientsTask) => {
  const start = performance.now();
  const amount = await run(task);
  const answer: ClientsAnswer = { ms: performance.now() - start, amount };
  process.send?.(answer);
});
