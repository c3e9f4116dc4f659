/**
 * Lock that allows one node per machine: its link, tables and routes have fixed names, and a second node
 * would take them over. The lock is an abstract socket in the machine's network namespace, where these
 * resources are; the kernel frees it with the process, however the process ends.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';

/** The socket's name in the form of `ss -lxp`. */
export const nodeSocket = '@minik8s-node';

/**
 * Resolves to a function that releases the socket; rejects if another minik8s already runs as a node in this
 * network.
 */
export function claimNode(name = nodeSocket): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => connection.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') alreadyANode(name).then(reject, reject);
      else reject(error);
    });
    server.listen(name.replace('@', '\0'), () => {
      server.unref();
      resolve(() => new Promise<void>((done) => void server.close(() => done())));
    });
  });
}

async function alreadyANode(name: string): Promise<Error> {
  const pid = await listenerOf(name);
  // A process in another PID namespace, such as a container's, is not visible from here.
  const which = pid === undefined ? '; ' : ` with process id ${pid}; `;
  return new Error(`another minik8s runs as a node on this machine${which}stop it first`);
}

/** Returns the id of the process that has the abstract socket open. */
async function listenerOf(name: string): Promise<number | undefined> {
  // Columns: Num RefCount Protocol Flags Type St Inode Path.
  const sockets = (await readFile('/proc/net/unix', 'utf8')).split('\n').map((line) => line.split(/ +/));
  const link = `socket:[${sockets.find((columns) => columns[7] === name)?.[6]}]`;
  for (const pid of (await readdir('/proc')).map(Number).filter((pid) => pid > 0)) {
    // The process may have ended meanwhile.
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => undefined);
      if (target === link) return pid;
    }
  }
  return undefined;
}
