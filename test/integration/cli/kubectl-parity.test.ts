/** The same arguments to `ctl` and to kubectl 1.32, on one server: the same output, and the same objects. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { formatYaml } from '../../../src/apimachinery/yaml.ts';
import { type Ctl, ctlFor, kubectlFor } from '../../fixtures/ctl.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const container = (name: string, more: object = {}) => ({ name, image: `${name}:1`, ...more });

function deployment(
  spec: object = {},
  containers: object[] = [container('c')],
  labels: object = {},
): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels: { app: 'web', ...labels } },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers, ...spec } },
    },
  };
}

const configMap = (data: object, metadata: object = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', ...metadata },
  data,
});

const service = (ports: object[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { clusterIP: 'None', selector: { app: 'web' }, ports },
});

interface Sequence {
  readonly what: string;
  readonly resource: string;
  /** Applied one after the other. */
  readonly manifests: readonly JsonObject[];
  /** What somebody else does between the first and the second. */
  readonly meanwhile?: string;
}

const sequences: Sequence[] = [
  {
    what: 'a container replaced, an injected one kept',
    resource: 'deployments/web',
    manifests: [
      deployment({}, [container('a'), container('b')]),
      deployment({}, [container('a', { image: 'a:2' }), container('c')]),
    ],
    meanwhile: '{"spec":{"template":{"spec":{"containers":[{"name":"x","image":"x:1"}]}}}}',
  },
  {
    what: 'variables and ports come and go',
    resource: 'deployments/web',
    manifests: [
      deployment({}, [
        container('c', {
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
          ports: [{ containerPort: 80 }],
        }),
      ]),
      deployment({}, [
        container('c', {
          env: [
            { name: 'C', value: '<&>' },
            { name: 'A', value: '3' },
          ],
          ports: [{ containerPort: 81 }],
        }),
      ]),
    ],
    meanwhile:
      '{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"X","value":"x"}]}]}}}}',
  },
  {
    what: 'replicas left to somebody else',
    resource: 'deployments/web',
    manifests: [
      deployment({}, [container('c')], { a: '1', b: '2' }),
      deployment({}, [container('c')], { b: '3' }),
    ],
    meanwhile: '{"spec":{"replicas":7},"metadata":{"labels":{"theirs":"1"},"annotations":{"note":"kept"}}}',
  },
  {
    what: 'a volume of another kind',
    resource: 'deployments/web',
    manifests: [
      deployment({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] }),
      deployment({ volumes: [{ name: 'v', configMap: { name: 'settings' } }] }),
      deployment({}),
    ],
  },
  {
    what: 'another strategy',
    resource: 'deployments/web',
    manifests: [
      {
        ...deployment(),
        spec: { ...(deployment().spec as object), strategy: { rollingUpdate: { maxSurge: 2 } } },
      },
      { ...deployment(), spec: { ...(deployment().spec as object), strategy: { type: 'Recreate' } } },
      deployment(),
    ],
  },
  {
    what: 'data removed, and the labels as a whole',
    resource: 'configmaps/settings',
    manifests: [
      configMap({ a: '1', b: '2' }, { labels: { x: '1' }, annotations: { y: '1' } }),
      configMap({ b: '3' }, { annotations: {} }),
    ],
    meanwhile: '{"data":{"theirs":"1"},"metadata":{"annotations":{"other":"kept"}}}',
  },
  {
    what: 'finalizers',
    resource: 'configmaps/settings',
    manifests: [
      configMap({}, { finalizers: ['example.com/a', 'example.com/b'] }),
      configMap({}, { finalizers: ['example.com/c'] }),
      configMap({}, {}),
    ],
    meanwhile: '{"metadata":{"finalizers":["example.com/theirs"]}}',
  },
  {
    what: 'ports of a service',
    resource: 'services/web',
    manifests: [
      service([
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ]),
      service([
        { name: 'c', port: 82 },
        { name: 'a', port: 80, targetPort: 8080 },
      ]),
    ],
  },
];

const reads: string[][] = [
  ['get', 'namespaces'],
  ['get', 'ns', '-o', 'wide'],
  ['get', 'services', '-A'],
  ['get', 'pods'],
  ['get', 'pods', '-A'],
  ['get', 'deploy,svc'],
  ['get', 'deploy', '-o', 'wide', '--show-labels'],
  ['get', 'deploy', '-L', 'app'],
  ['get', 'all'],
  ['get', 'all', '-n', 'kube-public'],
  ['get', 'deployment.apps/web', 'service/web'],
  ['get', 'cm', 'settings', 'nosuch'],
  ['get', 'cm', 'settings', '-o', 'yaml'],
  ['get', 'cm', '-o', 'json'],
  ['get', 'svc', '-o', 'name'],
  ['get', 'svc', '-o', 'name', '-l', 'no=match'],
  ['get', 'ns', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}'],
  ['get', 'svc', '-o', 'custom-columns=NAME:.metadata.name,PORTS:.spec.ports[*].port,X:.spec.none'],
  ['get', 'ns', '--no-headers', '--field-selector', 'metadata.name=default'],
  ['get', 'ns', '--sort-by', '.metadata.name'],
  ['get', 'ns', '--sort-by', 'metadata.name', '--no-headers'],
  ['get', 'cm,ns', '--sort-by', '.metadata.name', '-o', 'name'],
  ['get', 'cm', '-A', '--sort-by', '.metadata.labels.nosuch', '-o', 'name'],
  ['get', 'deploy/web', 'svc/nosuch'],
  ['get', 'deploy,cm', 'web'],
  ['get', 'deploy', '--label-columns='],
  ['get', 'deploy', '-L', 'app', '-L', 'nosuch', '--show-kind'],
  [
    'get',
    'deploy',
    '-o',
    'custom-columns=NAME:metadata.name,LABELS:.metadata.labels,ALL:.spec.template.spec',
  ],
  ['get', 'deploy', 'web', '-o', 'custom-columns=:.metadata.name,B:{.spec.replicas},NONE:', '--no-headers'],
  ['get', 'cm,deploy', '-o', 'custom-columns=KIND:.kind,NAME:.metadata.name'],
  ['get', 'ns', '--chunk-size=1', '-o', 'name'],
  ['get', 'ns', '--chunk-size=2', '--sort-by=.metadata.name'],
  ['get', 'deploy', 'web', '--subresource=status'],
  ['get', 'deploy', 'web', '--subresource=scale', '-o', 'jsonpath={.spec.replicas}'],
  ['get', 'deploy', 'web', '--subresource=nosuch'],
  ['get', 'deploy', '--server-print=false'],
  ['run', 'x', '--image=a:1', '--dry-run=client'],
  ['run', 'x', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--', 'sleep', '5'],
  ['run', 'x', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--command', '--', 'sleep', '5'],
  ['run', 'x', 'y', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--restart=Never', '--privileged'],
  [
    'run',
    'x',
    '--image=a:1',
    '--dry-run=client',
    '-o',
    'yaml',
    '-l',
    'a=b,c=d',
    '--env=A=1',
    '--env',
    'B=x=y',
  ],
  ['run', 'x', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--port=80', '--annotations=k=v'],
  ['run', 'x', '--image=a:1', '--dry-run=client', '-o', 'yaml', '-it', '--attach=false'],
  ['run', 'x', '--image=a:1', '--dry-run=server', '-o', 'name', '--image-pull-policy=Never'],
  ['explain', 'pods'],
  ['explain', 'pods.spec'],
  ['explain', 'pod.spec.containers'],
  ['explain', 'deploy.spec.replicas'],
  ['explain', 'cm.data'],
  ['explain', 'deployments.spec.template.spec.containers.ports.protocol'],
  ['explain', 'deployments.spec.template.metadata.labels'],
  ['explain', 'nodes', '--recursive'],
  ['explain', 'csr.spec', '--api-version=certificates.k8s.io/v1'],
  ['explain', 'dns'],
  ['explain', 'dns.spec.paths.path'],
  ['explain', 'dns.status.conditions', '--recursive'],
  ['get', 'pod', 'nosuch'],
  ['get', 'pod', 'nosuch', '--ignore-not-found'],
  ['get', 'pod', 'nosuch', '-o', 'json'],
  ['get', '--raw', '/api/v1/namespaces/default'],
  ['scale', 'deploy', 'web', '--replicas=4'],
  ['label', 'cm', 'settings', 'p=q', '--dry-run=server'],
  ['label', 'cm', 'settings', 'absent=1', '--dry-run=client'],
  ['annotate', 'cm', 'settings', 'p=q', '--overwrite'],
  ['patch', 'cm', 'settings', '-p', '{"data":{"a":"<b>"}}'],
  ['api-versions'],
  ['api-resources', '-o', 'wide'],
  ['api-resources', '--namespaced=false', '-o', 'name'],
  ['config', 'current-context'],
  ['config', 'get-contexts'],
  ['config', 'view', '--minify'],
  ['wait', '--for=jsonpath={.metadata.name}=settings', 'cm/settings'],
  ['wait', '--for=jsonpath={.metadata.name}=other', 'cm/settings', '--timeout=0'],
  ['wait', '--for=jsonpath={.data}', 'cm', 'settings', '-o', 'name'],
  ['wait', '--for=jsonpath={.nothing}', 'cm', 'settings', '--timeout=0'],
  ['wait', '--for=jsonpath={.metadata}=x', 'cm', 'settings', '--timeout=0'],
  ['wait', '--for=condition=Available', 'deploy', 'web', '--timeout=1s'],
  ['wait', '--for=condition=Ready', 'cm/nosuch', '--timeout=0'],
  ['wait', '--for=condition=Ready', 'cm/settings', '--timeout=0'],
  ['wait', '--for=create', 'cm/nosuch', '--timeout=0'],
  ['wait', '--for=create', 'cm/settings'],
  ['wait', '--for=create', 'cm/nosuch', '--timeout=1s'],
  ['wait', '--for=delete', 'cm/nosuch'],
  ['wait', '--for=delete', 'cm', '-l', 'app=web', '--timeout=1s'],
  ['wait', '--for=delete', 'cm/settings', '--timeout=0'],
  ['wait', '--for=condition=Ready', 'pods', '--all'],
  ['wait', '--for=delete', 'pods', '--all'],
  ['delete', 'cm', 'nosuch', '--ignore-not-found'],
  ['delete', 'cm', 'nosuch'],
];

describe('ctl beside kubectl 1.32', { timeout: 120_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;

  before(async () => {
    const clock = new FakeClock();
    server = await startHttpsTestServer({ clock });
    const kubeconfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    ctl = ctlFor(kubeconfig);
    kubectl = kubectlFor(kubeconfig);
  });
  after(() => server.stop());

  const both = async (args: readonly string[]) => {
    const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
    return { ours, theirs };
  };

  const applyAs = async (tool: Ctl, namespace: string, manifest: JsonObject) => {
    const { status, out, err } = await tool(['apply', '-n', namespace, '-f', '-'], {
      stdin: JSON.stringify(manifest),
    });
    assert.equal(status, 0, err);
    return out;
  };

  /** What both must agree on. */
  const state = async (namespace: string, resource: string) => {
    const { out } = await ctl(['get', resource, '-n', namespace, '-o', 'json']);
    const text = out.replaceAll(`\\"namespace\\":\\"${namespace}\\"`, '');
    const { metadata, ...rest } = JSON.parse(text) as { metadata: JsonObject };
    const { labels, annotations, finalizers } = metadata;
    return { ...rest, labels, annotations, finalizers };
  };

  sequences.forEach(({ what, resource, manifests, meanwhile }, index) => {
    it(`apply leaves the same: ${what}`, async () => {
      const [ours, theirs] = [`ours-${index}`, `theirs-${index}`];
      for (const name of [ours, theirs])
        await server.call('POST', '/api/v1/namespaces', { metadata: { name } });
      for (const [step, manifest] of manifests.entries()) {
        assert.equal(await applyAs(ctl, ours, manifest), await applyAs(kubectl, theirs, manifest));
        assert.deepEqual(
          await state(ours, resource),
          await state(theirs, resource),
          `after manifest ${step}`,
        );
        assert.match(await applyAs(ctl, ours, manifest), /unchanged/);
        if (step === 0 && meanwhile !== undefined)
          for (const namespace of [ours, theirs]) {
            const { status, err } = await kubectl(['patch', resource, '-n', namespace, '-p', meanwhile]);
            assert.equal(status, 0, err);
          }
      }
      // Either may go on after the other.
      const last = manifests.at(-1) ?? {};
      assert.match(await applyAs(ctl, theirs, last), /unchanged/);
    });
  });

  it('applies samples, and kubectl finds nothing to change', async () => {
    const file = join(server.directory, 'all.yaml');
    const manifests = [deployment(), service([{ port: 80 }]), configMap({ a: '<b>' })];
    await writeFile(file, manifests.map((manifest) => formatYaml(manifest)).join('---\n'));
    const { out } = await ctl(['apply', '-f', file]);
    assert.equal(out, 'deployment.apps/web created\nservice/web created\nconfigmap/settings created\n');
    const again = await both(['apply', '-f', file]);
    assert.equal(again.ours.out, out.replaceAll('created', 'unchanged'));
    assert.deepEqual(again.theirs, again.ours);
    assert.deepEqual(await ctl(['apply', '-f', file, '--dry-run=server']), {
      status: 0,
      err: '',
      out: out.replaceAll('created', 'unchanged (server dry run)'),
    });
  });

  for (const args of reads) {
    it(`${args.join(' ')}`, async () => {
      const { ours, theirs } = await both(args);
      const isJson = args.includes('json') && ours.out !== '';
      if (isJson) assert.deepEqual(JSON.parse(ours.out), JSON.parse(theirs.out));
      else assert.equal(ours.out, theirs.out);
      assert.equal(ours.status, theirs.status, ours.err);
      assert.equal(ours.err, theirs.err);
    });
  }

  describe('files', () => {
    const place = (name: string) => join(server.directory, 'files', name);

    before(async () => {
      await mkdir(place('below/more'), { recursive: true });
      await mkdir(place('none'));
      const named = (name: string) => formatYaml(configMap({}, { name }));
      for (const [name, text] of [
        ['empty.yaml', ''],
        ['comments.yaml', '---\n# nothing\n---\n'],
        ['below/one.yaml', named('one')],
        ['below/more/two.yml', named('two')],
        ['below/readme.txt', 'no manifest'],
        ['unusual.conf', named('unusual')],
        ['columns.txt', 'NAME          KIND\nmetadata.name kind\n'],
        ['names.txt', '{range .items[*]}{.metadata.name}{"\\n"}{end}'],
      ] as const)
        await writeFile(place(name), text);
      assert.equal((await ctl(['apply', '-R', '-f', place('below'), '-f', place('unusual.conf')])).status, 0);
    });

    for (const args of [
      'get -f missing.yaml',
      'get -f empty.yaml',
      'get -f comments.yaml',
      'get -f below -o name',
      'get -R -f below -o name',
      'get -f below -f unusual.conf',
      'get -f below,unusual.conf -o name',
      'apply -f missing.yaml',
      'apply -f empty.yaml',
      'apply -f comments.yaml',
      'apply -f none',
      'apply -f below',
      'apply -R -f below',
      'apply -f -',
      'create -f empty.yaml',
      'create -f -',
      'create -f missing.yaml',
      'delete -f empty.yaml',
      'delete -f missing.yaml',
      'get cm -o custom-columns-file=columns.txt',
      'get cm -o jsonpath-file=names.txt',
    ]) {
      it(args, async () => {
        const words = args
          .split(' ')
          .map((word) => word.replaceAll(/[a-z]+\.(yaml|conf|txt)|^below|^none/g, place));
        const { ours, theirs } = await both(words);
        assert.deepEqual(ours, theirs);
      });
    }

    it('an object that is deleted already is reported with its file', async () => {
      const args = ['delete', '-R', '-f', place('below')];
      assert.equal((await ctl(args)).status, 0);
      const { ours, theirs } = await both(args);
      assert.deepEqual(ours, theirs);
      assert.match(ours.err, /error when deleting ".*one\.yaml": configmaps "one" not found/);
    });
  });

  it('explain of an unknown field says so', async () => {
    for (const word of ['pods.nosuch', 'pods.spec.containers.nosuch']) {
      const { ours, theirs } = await both(['explain', word]);
      assert.deepEqual([ours.status, ours.err], [theirs.status, theirs.err]);
    }
    const { status, err } = await ctl(['explain', 'nosuch']);
    assert.deepEqual([status, err.includes(`doesn't have a resource type "nosuch"`)], [1, true]);
    assert.equal((await ctl(['explain'])).status, 1);
  });

  it('delete says the same and waits', async () => {
    const file = join(server.directory, 'all.yaml');
    const theirs = await kubectl(['delete', '-f', file]);
    await ctl(['apply', '-f', file]);
    assert.deepEqual(await ctl(['delete', '-f', file]), theirs);
    assert.match(theirs.out, /^deployment.apps "web" deleted\nservice "web" deleted\n/);
  });
});
