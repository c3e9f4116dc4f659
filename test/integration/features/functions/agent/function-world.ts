/**
 * A node agent that builds functions on Docker, with runtime images made of this machine's Python and Node.
 */

import { BuildEngine } from '../../../../../src/features/functions/agent/build-engine.ts';
import { nodeFunctions } from '../../../../../src/features/functions/agent/functions.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';
import { systemExec } from '../../../../../src/os/exec.ts';
import { dockerSocket } from '../../../../fixtures/docker-socket.ts';
import { makeRuntimeImage } from '../../../../fixtures/runtime-images.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from '../../../kubelet/node-harness.ts';

export const docker = async (...args: string[]) =>
  (await systemExec('docker', ['-H', `unix://${dockerSocket}`, ...args])).stdout;

/** Names of the runtime images; unique to this process. */
export const runtimeImages = {
  python: `minik8s-test/python:${process.pid}`,
  nodejs: `minik8s-test/nodejs:${process.pid}`,
} as const;

/** Tag of the functions' images; unique to this process. */
export const contentHash = `h${process.pid}`;

export const image = (name: string, namespace = 'default') =>
  `minik8s.function/${namespace}/${name}:${contentHash}`;

export interface FunctionWorld {
  readonly node: NodeHarness;
  /** Starts the agent again after it was stopped. */
  startAgent(): Promise<void>;
  /** Creates the version NAME-1 of a function in the namespace default. */
  createVersion(name: string, spec: object): Promise<FunctionVersion>;
  version(name: string): Promise<FunctionVersion>;
  createPod(name: string, version: string | undefined, image: string): Promise<void>;
  deletePod(name: string): Promise<void>;
  /** Calls the pod once it is ready and returns its answer. */
  answer(name: string, body: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export async function startFunctionWorld(
  environment: Readonly<Record<string, string>> = {},
): Promise<FunctionWorld> {
  const { python, nodejs } = runtimeImages;
  await Promise.all([makeRuntimeImage('python', python), makeRuntimeImage('nodejs', nodejs)]);
  // No controller scales here: a test creates the instances that it calls.
  const writeDemand = async () => undefined;
  const node = await startNodeHarness({
    functionCalls: { master: 'here', reachesPod: () => true, writeDemand },
  });
  const builds = new BuildEngine({ socketPath: dockerSocket, owner: node.owner });
  const startAgent = () => node.startAgent({ features: [nodeFunctions({ builds, environment })] });
  await startAgent();
  const versions = node.client.resource(functionVersionResource);
  return {
    node,
    startAgent,
    createVersion: (name, spec) =>
      versions.create({
        apiVersion: 'minik8s.io/v1',
        kind: 'FunctionVersion',
        metadata: { name: `${name}-1`, namespace: 'default' },
        spec: {
          ...{
            function: name,
            handler: 'main.handler',
            timeoutSeconds: 30,
            concurrency: 10,
            image: image(name),
          },
          ...spec,
        },
      } as FunctionVersion),
    version: (name) => versions.get(`${name}-1`, 'default'),
    async createPod(name, version, uses) {
      await node.createPod(
        name,
        {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'main', image: uses, imagePullPolicy: 'IfNotPresent' }],
        },
        version === undefined ? {} : { labels: { 'minik8s.io/function-version': version } },
      );
    },
    async deletePod(name) {
      await node.server.call('DELETE', `/api/v1/namespaces/default/pods/${name}`);
      await node.waitForGone(name);
    },
    async answer(name, body) {
      const pod = await node.waitFor(name, isReady);
      return eventually(async () => {
        const response = await fetch(`http://${pod.status?.podIP}:8080/`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'Function-Call-Id': 'x' },
          body: JSON.stringify(body),
        });
        return response.json();
      });
    },
    async close() {
      const built = await docker('images', '-q', '--filter', 'label=minik8s.io/function-image');
      await node.close();
      for (const id of new Set(built.split('\n').filter((id) => id !== ''))) await docker('rmi', '-f', id);
      await docker('rmi', '-f', python, nodejs);
    },
  };
}
