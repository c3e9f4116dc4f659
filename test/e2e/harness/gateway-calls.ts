/** Calls of functions and workflows through the gateway's port. */
import { Agent, request } from 'node:https';
import type { TestContext } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';
import type { Cluster } from './cluster.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Returns a function that calls the gateway at `host` as the administrator. It rejects when the connection is
 * refused or cut.
 */
export function gatewayCaller(
  context: TestContext,
  cluster: Pick<Cluster, 'kubeConfig'>,
  port: number,
  host = '127.0.0.1',
) {
  const config = cluster.kubeConfig();
  const [user, server] = [config.getCurrentUser(), config.getCurrentCluster()];
  const decoded = (text: string | undefined) => Buffer.from(text ?? '', 'base64');
  const agent = new Agent({
    ca: decoded(server?.caData),
    key: decoded(user?.keyData),
    cert: decoded(user?.certData),
  });
  context.after(() => agent.destroy());
  return (path: string, body: unknown): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request({ host, port, path, method: 'POST', agent, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
}

/**
 * Removes the images of functions, which the agent removes a minute after the last function is deleted, and
 * the images from which they were built.
 */
export async function removeFunctionImages(others: readonly string[]): Promise<void> {
  const listed = await systemExec('docker', ['image', 'ls', '--format', '{{.Repository}}:{{.Tag}}']);
  const names = listed.stdout
    .split('\n')
    .filter((name) => name.startsWith('minik8s.function/default/') || others.includes(name));
  if (names.length > 0) await systemExec('docker', ['image', 'rm', '--force', ...names]);
}
