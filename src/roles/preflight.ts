/** What must hold before anything is started, each checked for one line that says what to do. */

import { createSocket } from 'node:dgram';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { errorMessage } from '../base/log.ts';
import { requireApi } from '../kubelet/kubelet.ts';

/** Rejects when the port is taken or may not be listened on. */
export async function requireFreePort(address: string, port: number, flag: string): Promise<void> {
  const why = await portProblem('TCP', address, port);
  if (why) throw new Error(`port ${port} of ${address} ${why}; free it or give another --${flag}`);
}

interface WantedPort {
  readonly protocol: string;
  /** '' for every address. */
  readonly hostIP: string;
  readonly hostPort: number;
}

/** Rejects when a pod can not have a port of this machine. */
export async function requireFreeHostPort({ protocol, hostIP, hostPort }: WantedPort): Promise<void> {
  const why = await portProblem(protocol, hostIP || '0.0.0.0', hostPort);
  if (why) {
    const port = `hostPort ${hostPort}/${protocol}`;
    throw new Error(`${port} ${why} on this node; free it or give the pod another hostPort`);
  }
}

/** Why a port can not be listened on, found by trying; undefined when it can. */
function portProblem(protocol: string, address: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const failed = ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' ? 'is taken by another process' : `can not be listened on (${code})`);
    if (protocol === 'TCP') {
      const server = createServer().once('error', failed);
      server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(undefined)));
    } else if (protocol === 'UDP') {
      const socket = createSocket('udp4').once('error', (error: NodeJS.ErrnoException) => {
        socket.close();
        failed(error);
      });
      socket.bind({ address, port, exclusive: true }, () => socket.close(() => resolve(undefined)));
    } else resolve(undefined);
  });
}

/** Rejects when no Docker engine answers at the socket, or one that is too old. */
export async function requireDocker(socketPath: string): Promise<void> {
  const advice = 'start it (systemctl start docker, or dockerd), or give its --docker-socket';
  let answer: Answer;
  try {
    answer = await get(socketPath, '/version');
  } catch (error) {
    throw new Error(`no Docker engine answers at ${socketPath} (${errorMessage(error)}); ${advice}`);
  }
  if (answer.status !== 200) {
    throw new Error(`the Docker engine at ${socketPath} answers with ${answer.status}; ${advice}`);
  }
  const { Version, ApiVersion } = readVersion(answer.body);
  if (Version === undefined || ApiVersion === undefined) {
    throw new Error(`what answers at ${socketPath} is no Docker engine; give the --docker-socket of one`);
  }
  requireApi(Version, ApiVersion);
}

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

function get(socketPath: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, timeout: 5_000 }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    });
    call.once('timeout', () => call.destroy(new Error('no answer within 5 s')));
    call.once('error', reject);
    call.end();
  });
}

function readVersion(body: string): { readonly Version?: string; readonly ApiVersion?: string } {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** Network namespaces, links and firewall rules need it. */
export function requireRoot(): void {
  if (process.getuid?.() !== 0)
    throw new Error('minik8s sets up links and firewall rules: run it as root (sudo)');
}
