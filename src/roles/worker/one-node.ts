/**
 * A machine is one node: its link, tables and routes have fixed names, and a second node would take the first one's
 * away. What is held is an abstract socket of the machine's network, where these things are; the kernel frees it with
 * the process, however that ends.
 */
import { createServer } from 'node:net';

/** As `ss -lxp` shows it. */
export const nodeSocket = '@minik8s-node';

/** Resolves to a function that releases the socket; rejects when a minik8s already runs as a node in this network. */
export function claimNode(name = nodeSocket): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => connection.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `another minik8s runs as a node on this machine (ss -lxp src ${name} shows it); stop it first`;
      reject(error.code === 'EADDRINUSE' ? new Error(taken) : error);
    });
    server.listen(name.replace('@', '\0'), () => {
      server.unref();
      resolve(() => new Promise<void>((done) => void server.close(() => done())));
    });
  });
}
