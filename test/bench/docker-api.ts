/** The bare Docker API: the cost of a pod's two containers without anything else. */
import { Agent, request } from 'node:http';
import { dockerSocket } from '../fixtures/docker-socket.ts';

const agent = new Agent({ keepAlive: true });

/** Sends a request. Resolves to the decoded JSON; rejects with Docker's own message. */
export function dockerApi<T = unknown>(
  method: string,
  path: string,
  body?: unknown,
  socketPath = dockerSocket,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const call = request({
      socketPath,
      agent,
      method,
      path: `/v1.41${path}`,
      headers: { 'content-type': 'application/json' },
    });
    call.on('error', reject);
    call.on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => {
        const status = answer.statusCode ?? 0;
        if (status >= 400) reject(new Error(`Docker ${method} ${path}: ${status} ${text}`));
        else resolve((text ? JSON.parse(text) : undefined) as T);
      });
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

export interface Created {
  readonly Id: string;
}

/** Configuration of a container in the network of another container. */
const joined = (id: string) => ({ HostConfig: { NetworkMode: `container:${id}` } });

/** Creates and starts a pause container on Docker's bridge, and then the app in its network. */
export async function runPair(
  image: string,
  socketPath = dockerSocket,
  entrypoint?: readonly string[],
): Promise<readonly string[]> {
  const start = async (options: object) => {
    const { Id } = await dockerApi<Created>('POST', '/containers/create', options, socketPath);
    await dockerApi('POST', `/containers/${Id}/start`, undefined, socketPath);
    return Id;
  };
  const pause = entrypoint ? { Entrypoint: [...entrypoint], Cmd: [] } : { Cmd: ['sleep', '1000'] };
  const sandbox = await start({ Image: image, ...pause, HostConfig: { NetworkMode: 'bridge' } });
  return [await start({ Image: image, ...joined(sandbox) }), sandbox];
}

export async function removeContainers(ids: readonly string[], socketPath = dockerSocket): Promise<void> {
  for (const id of ids)
    await dockerApi('DELETE', `/containers/${id}?force=true&v=true`, undefined, socketPath);
}
