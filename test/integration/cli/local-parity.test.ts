/**
 * Compares ctl with kubectl 1.32: --local of every verb that has the flag, all forms of `set env`,
 * --resource-version, the output formats of `rollout`, and `explain`. Status and output must be the same.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, ctlFor, kubectlFor } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { configMap, service } from './parity-cases.ts';

const env = [
  { name: 'A', value: '1' },
  { name: 'B', valueFrom: { configMapKeyRef: { name: 'settings', key: 'b' } } },
  { name: 'C', valueFrom: { secretKeyRef: { name: 'keys', key: 'c' } } },
  { name: 'D', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none' } } },
  { name: 'E', valueFrom: { configMapKeyRef: { name: 'none', key: 'b' } } },
  { name: 'F', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  { name: 'G', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  { name: 'H', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
  { name: 'I', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['note']" } } },
  { name: 'J', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
  { name: 'K', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
  {
    name: 'L',
    valueFrom: { resourceFieldRef: { containerName: 'c', resource: 'limits.memory', divisor: '1Mi' } },
  },
];
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { app: 'web', b: '1' }, annotations: { note: '<&>' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [{ name: 'c', image: 'c:1', env, resources: { limits: { cpu: 0.5, memory: '1024Mi' } } }],
        initContainers: [{ name: 'init', image: 'init:1' }],
      },
    },
  },
};
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'readers' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
};
const files: Readonly<Record<string, object>> = {
  'web.json': web,
  'service.json': service([{ port: 80 }]),
  'binding.json': binding,
  'both.json': {
    apiVersion: 'v1',
    kind: 'List',
    items: [web, { ...configMap({ a: '<b>' }), apiVersion: 'v1', kind: 'ConfigMap' }],
  },
};

/** Command lines that need no server. */
const local = [
  'set image -f web.json c=c:2 --local',
  'set image -f web.json c=c:2 --local -o yaml',
  'set image -f web.json c=c:2 --local --dry-run=client',
  'set image -f web.json c=c:2 --local --dry-run=server',
  'set image -f web.json c=c:1 init=init:1 --local',
  'set image -f web.json x=c:2 --local',
  'set image deployment/web c=c:2 --local',
  'set image -f web.json deployment/web c=c:2 --local',
  'set resources -f web.json --limits=cpu=0.25,memory=2048Mi --local -o yaml',
  'set resources -f web.json -c c --requests=cpu=1 --local -o name',
  'set serviceaccount -f web.json robot --local -o jsonpath={.spec.template.spec}',
  'set selector -f service.json a=b --local -o yaml',
  'set selector -f service.json a=b --local',
  'set selector -f web.json a=b --local',
  'set subject -f binding.json --user=ann --serviceaccount=shop:robot --local -o yaml',
  'set subject -f binding.json --group=staff --local',
  'set subject rolebinding readers --group=staff --local',
  'set env -f web.json A=2 --local -o yaml',
  'set env -f web.json A=2 --local',
  'set env -f web.json --list --local',
  'set env -f web.json X=3 A- --list --local',
  'set env -f web.json -c ini* X=3 --list --local',
  'label -f web.json a=b --local',
  'label -f web.json a=b --local -o yaml',
  'label -f web.json a=b --local --dry-run=client',
  'label -f web.json a=b --local --dry-run=server',
  'label -f web.json app=other --local',
  'label -f web.json app=other --overwrite --local',
  'label -f web.json b- --local',
  'label -f both.json a=b --local',
  'label -f both.json a=b --local -o name',
  'label deployment web a=b --local',
  'annotate -f both.json a=b --local',
  'annotate -f web.json a=b --local -o jsonpath={.metadata}',
  'patch -f web.json -p {"spec":{"replicas":2}} --local',
  'patch -f web.json -p {"spec":{"replicas":2}} --local -o yaml',
  'patch -f web.json -p {"spec":{"template":{"spec":{"containers":[{"name":"c","image":"c:9"}]}}}} --local -o yaml',
  'patch -f web.json -p {} --local',
  'patch -f web.json --type=merge -p {"spec":{"template":null}} --local -o json',
  'patch -f web.json --type=json -p [{"op":"replace","path":"/metadata/name","value":"x"}] --local -o name',
  'patch -f web.json -p {} --local --dry-run=server',
  'patch deployment web -p {} --local',
];

/** Command lines with a server, one after the other. */
const steps = [
  'set env deployment/web --list',
  'set env deployment/web --list --resolve',
  'set env deployment/web --list --resolve -c init',
  'set env deployment/web --list X=3 A-',
  'set env deployment/web --list -o yaml',
  'set env deployment/web A=1 --overwrite=false',
  'set env deployment/web A=2 --overwrite=false',
  'set env deployment/web -e - -c init',
  'set env deployment/web --list -c init',
  'set env deployment/web --from=configmap/settings --keys=b -c init',
  'set env deployment/web --from=secret/keys --prefix=P_ -c init --dry-run=server',
  'set env --from=secret/keys --prefix=P_ deployment/web -c init',
  'set env deployment/web --list -c init',
  'set env deployment/web --keys=a',
  'patch deployment web -p {"spec":{"replicas":2}} --dry-run=client',
  'patch deployment web -p {"spec":{"replicas":2}} --dry-run=client -o jsonpath={.spec.replicas}',
  'patch deployment web -p {} --dry-run=client',
  'patch deployment web -p {"spec":{"replicas":3}} --dry-run=server',
  'patch deployment web -p {"spec":{"replicas":2}}',
  'patch deployment web -p {"spec":{"replicas":2}}',
  'label deployment web c=d --resource-version=1',
  'label deployments --all c=d --resource-version=1',
  'annotate deployment web c=d --resource-version=1',
  'set selector service web c=d --resource-version=1',
  'set selector service web c=d',
  'scale deployment web --replicas=4 --resource-version=1',
  'scale deployment web --replicas=4 --current-replicas=2',
  'scale deployment web other --replicas=4 --resource-version=1',
  'get cm settings -o jsonpath={.data}',
  'get cm settings -o jsonpath={.data.a}',
  'get cm settings -o jsonpath={.metadata.labels}',
  'rollout pause deployment/web -o name',
  'rollout pause deployment/web -o jsonpath={.spec.paused}',
  'rollout resume deployment/web -o jsonpath={.metadata.name}{.spec.paused}',
  'rollout resume deployment/web -o yaml',
  'rollout restart deployment/web -o name',
  'rollout restart deployment/other -o jsonpath={.spec.template.spec}',
  'rollout status deployment/web --watch=false',
  'explain pods.spec.containers -o plaintext-openapiv2',
  'explain pods.spec.containers.image -o plaintext-openapiv2',
  'explain deployments.apps.spec --recursive -o plaintext-openapiv2',
  'explain cm.data -o plaintext-openapiv2',
  'explain dns -o plaintext-openapiv2',
  'explain hpa.spec --api-version=autoscaling/v1 -o plaintext-openapiv2',
  'explain pods.spec.nosuch -o plaintext-openapiv2',
  'explain pods --api-version=foo/v1 -o plaintext-openapiv2',
  'explain deployments.apps.spec.replicas',
];

describe('ctl with --local, --resource-version and output formats, compared with kubectl 1.32', {
  timeout: 600_000,
  skip: unlessKubectl('1.32'),
}, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  /** The two clients with an empty kubeconfig: ctl and kubectl. */
  let without: readonly [Ctl, Ctl];

  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    const missing = join(server.directory, 'no-kubeconfig');
    await writeFile(missing, '');
    without = [ctlFor(missing), kubectlFor(missing)];
    for (const [name, object] of Object.entries(files))
      await writeFile(join(server.directory, name), JSON.stringify(object));
    for (const namespace of ['ours', 'them']) {
      await create('/api/v1/namespaces', { metadata: { name: namespace } });
      const core = `/api/v1/namespaces/${namespace}`;
      await create(`${core}/configmaps`, configMap({ b: 'two', a: '<&>' }, { labels: { z: '1', a: '2' } }));
      await create(`${core}/secrets`, { metadata: { name: 'keys' }, stringData: { c: 'three' } });
      await create(`${core}/services`, service([{ port: 80 }]));
      await create(`/apis/apps/v1/namespaces/${namespace}/deployments`, web);
      const other = { ...web, metadata: { name: 'other' } };
      await create(`/apis/apps/v1/namespaces/${namespace}/deployments`, other);
    }
  });
  after(() => server.stop());

  const create = async (path: string, object: object) => {
    const { status, text } = await server.call('POST', path, object);
    assert.equal(status, 201, text);
  };
  const words = (line: string) =>
    line.split(' ').map((word) => (word.endsWith('.json') ? join(server.directory, word) : word));
  /**
   * Replaces what may differ: the namespace, times, versions, UIDs and two known differences of the messages.
   */
  const stable = (text: string) =>
    text
      .replaceAll('them', 'ours')
      // kubectl patch does not mark a dry run, and kubectl set env names the object before one error.
      .replaceAll(/(patched.*) \((server )?dry run\)/g, '$1')
      .replaceAll(/^error: deployments\/web '/g, "error: '")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
      .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UID')
      .replaceAll(/(resourceVersion: |resource version to be 1, was )"?\d+"?/g, '$1N');

  for (const line of local)
    it(`${line} prints the same without a server`, async () => {
      const [ours, theirs] = await Promise.all(without.map((tool) => tool(words(line))));
      if (line.includes('-o json') && !line.includes('jsonpath'))
        assert.deepEqual(JSON.parse(ours?.out ?? ''), JSON.parse(theirs?.out ?? ''));
      else assert.deepEqual(ours, { ...theirs, err: theirs?.err.replace(/\nExample.*\n$/s, '\n') });
    });

  it('prints the same as kubectl after each step with a server', async () => {
    const differences: object[] = [];
    const stdin = 'S1=a # comment\nnothing\nS2=b=c\n';
    for (const line of steps) {
      const [ours, theirs] = await Promise.all([
        ctl([...words(line), '-n', 'ours'], { stdin }),
        kubectl([...words(line), '-n', 'them'], { stdin }),
      ]);
      const [mine, other] = [ours, theirs].map(({ status, out, err }) => ({
        status,
        out: stable(out),
        err: stable(err),
      }));
      try {
        assert.deepEqual(mine, other);
      } catch {
        differences.push({ line, mine, other });
      }
    }
    assert.deepEqual(differences, []);
  });
});
