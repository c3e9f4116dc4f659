/**
 * Commands that users type often, with a server that answers them. They run while the client's code cache is
 * made: V8 stores the functions that were called.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatKubeconfig, parseKubeconfig } from '../../src/client/kubeconfig.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../test/fixtures/https-api-server.ts';

export interface UsualCommands {
  /** Words after `ctl` of each command; each ends with status 0. */
  readonly commands: readonly (readonly string[])[];
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const log = Buffer.from('a line of a log\n'.repeat(2000));

const manifest = `apiVersion: v1
kind: Service
metadata:
  name: web
  labels: {app: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: "http"}]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx
`;

const commandsWith = (file: string): readonly (readonly string[])[] => [
  // The second one finds the resources in the cache on disk.
  ['get', 'pods'],
  ['get', 'pods'],
  ['get', 'pods,services', '-A', '-o', 'wide', '--show-labels'],
  ['get', 'pod', 'web-1', '-o', 'json'],
  ['get', 'pods', '-o', 'yaml', '-l', 'app=web'],
  ['get', 'pods', '-o', 'name'],
  ['get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}'],
  ['describe', 'pod', 'web-1'],
  ['apply', '-f', file],
  ['apply', '-f', file],
  ['describe', 'deployment', 'web'],
  ['scale', 'deployment', 'web', '--replicas=3'],
  ['label', 'pod', 'web-1', 'a=b', '--overwrite'],
  ['annotate', 'pod', 'web-1', 'a=b', '--overwrite'],
  ['logs', 'web-1'],
  ['logs', 'web-1', '--tail=10', '--prefix'],
  ['explain', 'pod.spec.containers'],
  ['api-resources'],
  ['auth', 'can-i', 'create', 'pods'],
  ['config', 'view'],
  ['config', 'get-contexts'],
  ['events'],
  ['version', '--client'],
  ['create', 'configmap', 'one', '--from-literal=a=b'],
  ['delete', 'configmap', 'one'],
  ['delete', '-f', file],
];

export async function startUsualCommands(): Promise<UsualCommands> {
  const nodeConnection = async () => new Response(new Blob([log]));
  const server = await startHttpsTestServer({ nodeConnection });
  const home = await mkdtemp(join(tmpdir(), 'minik8s-usual-commands-'));
  const [kubeconfig, file] = [join(home, 'kubeconfig'), join(home, 'manifest.yaml')];
  const given = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
  // Kubeconfigs of users are YAML.
  await writeFile(kubeconfig, formatKubeconfig(parseKubeconfig(await readFile(given, 'utf8'), given)));
  await writeFile(file, manifest);
  await createPods(server);
  return {
    commands: commandsWith(file),
    env: { HOME: home, KUBECONFIG: kubeconfig },
    async stop() {
      await server.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function createPods(server: HttpsTestServer): Promise<void> {
  for (const name of ['web-1', 'web-2']) {
    const { status, text } = await server.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name, labels: { app: 'web' } },
      spec: { nodeName: 'n', containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }] },
    });
    if (status !== 201) throw new Error(`cannot create the pod ${name}: ${text}`);
  }
}
