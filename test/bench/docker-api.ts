/** The bare Docker API: what a pod's two containers cost without anything around them. */
import { Agent, request } from 'node:http';
import { dockerSocket } from '../fixtures/docker-socket.ts';

const agent = new Agent({ keepAlive: true });

/** Answers the decoded JSON; rejects with Docker's own message. */
export function dockerApi<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const call = request({
      socketPath: dockerSocket,
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

/** A pause container on Docker's bridge and the app in its network: created and started, one after the other. */
export async function runPair(image: string): Promise<readonly string[]> {
  const sandbox = await dockerApi<Created>('POST', '/containers/create', {
    Image: image,
    Cmd: ['sleep', '1000'],
    HostConfig: { NetworkMode: 'bridge' },
  });
  await dockerApi('POST', `/containers/${sandbox.Id}/start`);
  const app = await dockerApi<Created>('POST', '/containers/create', {
    Image: image,
    HostConfig: { NetworkMode: `container:${sandbox.Id}` },
  });
  await dockerApi('POST', `/containers/${app.Id}/start`);
  return [app.Id, sandbox.Id];
}

export async function removeContainers(ids: readonly string[]): Promise<void> {
  for (const id of ids) await dockerApi('DELETE', `/containers/${id}?force=true`);
}
