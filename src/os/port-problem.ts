/** Checks whether a program can listen on a port of this machine. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Tries to listen on a port and resolves to the reason why that fails; undefined if it succeeds. */
export function portProblem(protocol: string, address: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const failed = ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be listened on (${code})`);
    if (protocol === 'TCP') {
      const server = createServer().once('error', failed);
      server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(undefined)));
    } else if (protocol === 'UDP') {
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4').once(
        'error',
        (error: NodeJS.ErrnoException) => {
          socket.close();
          failed(error);
        },
      );
      socket.bind({ address, port, exclusive: true }, () => socket.close(() => resolve(undefined)));
    } else resolve(undefined);
  });
}
