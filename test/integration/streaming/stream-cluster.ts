/**
 * The API server and a node agent's server, both over TLS, with a simulated engine: streams without Docker.
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { type Logger, silentLogger } from '../../../src/base/log.ts';
import type { NodeConnection } from '../../../src/kube-apiserver/node-connection.ts';
import type { ContainerConfig } from '../../../src/kubelet/runtime/container-config.ts';
import type { ContainerState } from '../../../src/kubelet/runtime/runtime.ts';
import { serveKubelet } from '../../../src/kubelet/server/server.ts';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { createNodeConnection } from '../../../src/roles/master/node-connection.ts';
import { reportSources } from '../../fixtures/agent-reports.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../fixtures/simulated-runtime.ts';
import { copyInput, type Program } from '../../fixtures/simulated-streams.ts';

export interface StreamCluster {
  readonly server: HttpsTestServer;
  readonly runtime: SimulatedRuntime;
  /** The only container of pod `web` in namespace `default`. */
  readonly containerId: string;
  /** Terminal sizes that the program `size` received. */
  readonly sizes: string[];
  /** Returns the number of running programs. */
  running(): number;
  /** Stops the node agent. */
  stopAgent(): Promise<void>;
  stop(): Promise<void>;
}

const token = { name: 'tok', groups: ['system:masters'] };

/**
 * Starts the cluster. `connectTimeout` is the server's timeout for connecting to the agent, in milliseconds.
 */
export async function startStreamCluster(
  connectTimeout?: number,
  log: Logger = silentLogger,
): Promise<StreamCluster> {
  let node: NodeConnection | undefined;
  const connection = () => node ?? reject();
  const nodeConnection: NodeConnection = Object.assign(
    (...args: Parameters<NodeConnection>) => connection()(...args),
    {
      upgrade: (...args: Parameters<NonNullable<NodeConnection['upgrade']>>) =>
        connection().upgrade?.(...args) ?? reject(),
      dial: (...args: Parameters<NonNullable<NodeConnection['dial']>>) =>
        connection().dial?.(...args) ?? reject(),
    },
  );
  const server = await startHttpsTestServer({
    nodeConnection,
    log,
    authenticate: ({ authorization, peer }) => {
      if (authorization === 'Bearer s3cret') return token;
      return peer && { name: peer.commonName, groups: peer.organizations };
    },
  });
  let running = 0;
  const sizes: string[] = [];
  const program: Program = async (command, streams, signal) => {
    running++;
    try {
      return await programOf(command[0] ?? '', sizes)(command, streams, signal);
    } finally {
      running--;
    }
  };
  const runtime = new SimulatedRuntime({
    clock: systemClock,
    random: new SeededRandom(5),
    images: new Map([['test:1', { present: true }]]),
    onExec: program,
    onConnect: (port) => listeners[port],
  });
  const pod = await createPod(server);
  const reference = { uid: pod.metadata.uid, name: 'web', namespace: 'default' };
  // The agent connects to servers on this machine; the API server uses the pod's address in the cluster.
  const sandbox = await runtime.runSandbox({ ip: '127.0.0.1', hostname: 'web' });
  const config = { pod: reference, name: 'main', sandboxId: sandbox.id, attempt: 0, stdin: true };
  const containerId = await runtime.createContainer(config as ContainerConfig);
  await runtime.startContainer(containerId);
  const container = (await runtime.inspect(containerId)) as ContainerState;

  const certificate = await issueCertificate(server.authority, {
    commonName: 'system:node:n1',
    organizations: ['system:nodes'],
    hosts: ['n1', '127.0.0.1'],
    usages: ['server'],
    notBefore: Date.now() - 3_600_000,
    notAfter: Date.now() + 86_400_000,
  });
  const { promise: listening, resolve } = Promise.withResolvers<number>();
  const stopping = new AbortController();
  const agent = serveKubelet(
    {
      hosts: ['127.0.0.1'],
      port: 0,
      tls: {
        identity: replaceable(certificate),
        clientCA: server.authority.certificate,
      },
      access: { require: async () => undefined },
      reports: reportSources(() => [pod]),
      runtime,
      clock: systemClock,
      log: log.named('kubelet'),
      pods: () => [pod],
      nodeIP: '127.0.0.1',
      observe: () => ({ sandboxes: [sandbox], containers: [container] }),
      onListening: resolve,
    },
    stopping.signal,
  );
  await createNode(server, await listening);
  node = createNodeConnection({
    cache: server.cache,
    authority: server.authority.certificate,
    client: replaceable(await server.clientCertificate('kube-apiserver-kubelet-client', ['system:masters'])),
    ...(connectTimeout !== undefined && { connectTimeout }),
  });
  const stopAgent = async () => {
    stopping.abort();
    await agent;
  };
  return {
    server,
    runtime,
    containerId,
    sizes,
    running: () => running,
    stopAgent,
    async stop() {
      await stopAgent();
      await server.stop();
    },
  };
}

/** Servers in the pod: 8080 echoes everything, 8090 ends its side first and then reads on. */
const listeners: Readonly<Record<number, (stream: Duplex) => Promise<void>>> = {
  async 8080(stream) {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      if (!stream.write(chunk)) await new Promise((resolve) => stream.once('drain', resolve));
    }
  },
  async 8090(stream) {
    stream.end('that is all\n');
    for await (const _ of stream.iterator({ destroyOnReturn: false }));
  },
};

function reject(): never {
  throw new Error('there is no node yet');
}

/**
 * Delay before a program starts; a real engine takes longer. kubectl 1.30 to 1.33 lose output that arrives
 * before they have created their streams (kubernetes/kubernetes#131203); once they send input, they have
 * created them.
 */
const beginMs = 100;

/** Waits for input, since a client that sends has its streams; without input waits for the delay. */
async function begin(stdin: Readable | undefined): Promise<void> {
  await (stdin ? once(stdin, 'readable') : setTimeout(beginMs));
}

function programOf(name: string, sizes: string[]): Program {
  if (name === 'copy') return copyInput;
  if (name === 'fail') {
    return async (_command, { stdin, stdout, stderr }) => {
      await begin(stdin);
      stdout?.write('out\n');
      stderr?.write('err\n');
      return 3;
    };
  }
  if (name === 'words') {
    return async ([_, ...words], { stdin, stdout }) => {
      await begin(stdin);
      stdout?.write(createHash('sha256').update(words.join(' ')).digest('hex'));
      return 0;
    };
  }
  if (name === 'size') {
    return async (_command, streams) => {
      for await (const { width, height } of streams.sizes) {
        sizes.push(`${width}x${height}`);
        return 0;
      }
      return 1;
    };
  }
  if (name === 'resized') {
    return async (_command, streams) => {
      for await (const { width, height } of streams.sizes) {
        sizes.push(`${width}x${height}`);
        if (width === 90) return 5;
      }
      return 1;
    };
  }
  if (['tar', 'test', 'sh'].includes(name)) return runHere;
  if (name === 'keys') {
    return async (_command, { stdin, stdout }) => {
      for await (const chunk of stdin ?? []) {
        stdout?.write(`<${chunk}>`);
        if (String(chunk).includes('q')) return 6;
      }
      return 1;
    };
  }
  if (name === 'wait') {
    return (_command, _streams, signal) =>
      new Promise((_, rejected) => signal.addEventListener('abort', () => rejected(signal.reason)));
  }
  return async () => {
    throw new Error(`no program ${name}`);
  };
}

/** Runs a real program on the files of this machine. */
const runHere: Program = async ([file = '', ...args], { stdin, stdout, stderr }, signal) => {
  await begin(stdin);
  const child = spawn(file, args, { stdio: 'pipe' });
  // The remaining output is not read.
  signal.addEventListener('abort', () => {
    child.kill();
    child.stdout.destroy();
  });
  child.stdin.on('error', () => undefined);
  if (stdin) stdin.pipe(child.stdin);
  else child.stdin.end();
  if (stdout) child.stdout.pipe(stdout, { end: false });
  if (stderr) child.stderr.pipe(stderr, { end: false });
  const [code] = (await once(child, 'close')) as [number];
  return code;
};

async function createPod(server: HttpsTestServer): Promise<Pod> {
  const pods = '/api/v1/namespaces/default/pods';
  const containers = [{ name: 'main', image: 'test:1', stdin: true }];
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { nodeName: 'n1', containers },
  };
  const made = await server.call('POST', pods, body);
  if (made.status !== 201) throw new Error(made.text);
  const pod = made.json<Pod>();
  const status = {
    phase: 'Running',
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }],
    conditions: ['ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' })),
    containerStatuses: [
      { name: 'main', image: 'test:1', imageID: '', ready: true, restartCount: 0, state: { running: {} } },
    ],
  };
  const told = await server.call('PUT', `${pods}/web/status`, { ...pod, status });
  if (told.status !== 200) throw new Error(told.text);
  for (const [name, spec] of [
    ['unbound', { containers: [{ name: 'main', image: 'test:1' }] }],
    [
      'two',
      {
        nodeName: 'n1',
        containers: [
          { name: 'a', image: 'test:1' },
          { name: 'b', image: 'test:1' },
        ],
      },
    ],
  ] as const) {
    await server.call('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  }
  return told.json<Pod>();
}

async function createNode(server: HttpsTestServer, port: number): Promise<void> {
  const made = await server.call('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1' },
  });
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  const told = await server.call('PUT', '/api/v1/nodes/n1/status', { ...made.json<Node>(), status });
  if (told.status !== 200) throw new Error(told.text);
}
