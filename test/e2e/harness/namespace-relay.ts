/**
 * Passes connections from a port of a network namespace to a Unix socket, which belongs to no namespace. Run
 * in the namespace as `node namespace-relay.ts PORT SOCKET`; prints a line when it listens.
 */
import { connect, createServer } from 'node:net';

const [port = '', path = ''] = process.argv.slice(2);
createServer((client) => {
  const server = connect(path);
  client.pipe(server).pipe(client);
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'));
