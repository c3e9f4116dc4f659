/** Kinds by their words, and the conversion of the fields of each. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { convert, pathsOf } from '../../../../src/cli/convert/convert-plan.ts';
import { converted, convertedOne } from '../converted.ts';

const metadata = { name: 'x' };
const volume = (spec: JsonObject) => ({ kind: 'pv', metadata, spec: { capacity: '1Gi', ...spec } });
const claim = (spec: JsonObject) => ({ kind: 'pvc', metadata, spec });

describe('kinds', () => {
  for (const [word, apiVersion, kind] of [
    ['Deployment', 'apps/v1', 'Deployment'],
    ['replicaSET', 'apps/v1', 'ReplicaSet'],
    ['Pod', 'v1', 'Pod'],
    ['service', 'v1', 'Service'],
    ['Dns', 'minik8s.io/v1', 'Dns'],
    ['PV', 'v1', 'PersistentVolume'],
    ['PersistentVolume', 'v1', 'PersistentVolume'],
    ['PVC', 'v1', 'PersistentVolumeClaim'],
    ['persistentvolumeclaim', 'v1', 'PersistentVolumeClaim'],
  ])
    it(`${word} is ${kind} of ${apiVersion}`, () => {
      const { made } = convertedOne({ apiVersion: 'odd', kind: word, metadata, spec: {} });
      assert.deepEqual([made.apiVersion, made.kind, made.metadata], [apiVersion, kind, metadata]);
    });

  it('may be written Kind', () => {
    const { made, notes } = convertedOne({ Kind: 'Pod', metadata, spec: { containers: [] } });
    assert.deepEqual([made.kind, notes], ['Pod', []]);
  });

  for (const [object, message] of [
    [{ metadata }, 'kind is missing: say what it is, such as Hpa'],
    [{ kind: '', metadata }, 'kind is missing: say what it is, such as Hpa'],
    [{ kind: 'Job', metadata }, 'kind Job is not converted'],
    [{ kind: 7, States: 'none' }, 'kind 7 is not converted'],
  ] as const)
    it(`${JSON.stringify(object)} is refused`, () => {
      assert.deepEqual(converted(object), { made: [], notes: [], errors: [`f: ${message}`] });
    });
});

describe('metadata', () => {
  it('keeps namespace, labels and annotations, and reports all other fields', () => {
    const kept = { namespace: 'n', labels: { a: 'b' }, annotations: { c: 'd' } };
    const object = { kind: 'Pod', metadata: { name: 'x', ...kept, odd: 1, none: null }, spec: {} };
    const { made, notes } = convertedOne(object);
    assert.deepEqual(made.metadata, { name: 'x', ...kept });
    assert.deepEqual(notes, ['f: metadata.odd: left out: its meaning is not known']);
  });

  it('takes a name outside of metadata, and makes it valid', () => {
    const { made, notes } = convertedOne({ kind: 'Dns', Name: 'My_Site', host: 'a' });
    assert.deepEqual(made, {
      apiVersion: 'minik8s.io/v1',
      kind: 'Dns',
      metadata: { name: 'my-site' },
      spec: { host: 'a', paths: [] },
    });
    assert.deepEqual(notes, ['f: name: My_Site becomes my-site']);
  });

  it('has an empty name if none was given, which the server rejects', () => {
    const { made, notes } = convertedOne({ kind: 'Pod', spec: {} });
    assert.deepEqual([made.metadata, notes], [{ name: '' }, []]);
  });
});

describe('a workload', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [] } };
  const deployment = (spec: JsonObject) => ({ kind: 'Deployment', metadata, spec: { template, ...spec } });

  for (const [what, selector, expected] of [
    ['labels alone', { a: 'b' }, { matchLabels: { a: 'b' } }],
    ['Kubernetes’ own', { matchLabels: { a: 'b' } }, { matchLabels: { a: 'b' } }],
    ['expressions', { matchExpressions: [] }, { matchExpressions: [] }],
    ['none', undefined, { matchLabels: { a: 'b' } }],
    ['nothing', null, { matchLabels: { a: 'b' } }],
  ] as const)
    it(`has a selector: ${what}`, () => {
      assert.deepEqual(convertedOne(deployment({ selector })).made.spec.selector, expected);
    });

  it('passes labels and annotations to its pods, and reports other metadata', () => {
    const { made, notes } = convertedOne(
      deployment({
        replicas: 2,
        selector: { a: 'b' },
        template: {
          metadata: { name: 'y', namespace: 'n', labels: { a: 'b' }, annotations: { c: 'd' }, uid: 1 },
          spec: { resources: {}, containers: [{ name: 'c', mounts: [{ odd: 1 }] }, 'none'] },
          status: {},
        },
      }),
    );
    assert.deepEqual(made.spec, {
      replicas: 2,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
        spec: {
          containers: [{ name: 'c', volumeMounts: [{ name: 'mount-0-0', mountPath: '' }] }],
          volumes: [{ name: 'mount-0-0', hostPath: { path: '' } }],
        },
      },
    });
    assert.deepEqual(notes, [
      'f: spec.template.metadata.name: left out: each pod gets a name',
      'f: spec.template.metadata.namespace: left out: the pods are in the namespace of the workload',
      'f: spec.template.status: left out: the cluster writes it',
      'f: spec.template.metadata.uid: left out: its meaning is not known',
      'f: spec.template.spec.resources: left out: resources are those of containers',
      'f: spec.template.spec.containers[1]: left out: expected a mapping of fields',
      'f: spec.template.spec.containers[0].mounts[0].odd: left out: its meaning is not known',
    ]);
  });

  for (const template of [undefined, 'none', {}, { spec: 'none' }])
    it(`has a template without pods for ${JSON.stringify(template)}`, () => {
      const { made } = convertedOne(deployment({ template }));
      assert.deepEqual(made.spec.template, { metadata: { labels: {} }, spec: { containers: [] } });
    });
});

describe('a pod', () => {
  it('keeps the fields of Kubernetes and adds those of the other system', () => {
    const { made, notes } = convertedOne({
      kind: 'Pod',
      metadata,
      spec: {
        restartPolicy: 'Never',
        volumes: [
          { name: 'v', hostPath: { path: '/a', type: '' } },
          { name: 'w', emptyDir: {} },
        ],
        containers: [
          {
            name: 'c',
            volumeMounts: [{ name: 'v', mountPath: '/v' }],
            mounts: [{ hostPath: '/b', containerPath: '/c' }],
          },
          { name: 'd', volumeMounts: [{ name: 'w', mountPath: '/w' }] },
        ],
      },
    });
    assert.deepEqual(made.spec, {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'c',
          volumeMounts: [
            { name: 'v', mountPath: '/v' },
            { name: 'mount-0-0', mountPath: '/c' },
          ],
        },
        { name: 'd', volumeMounts: [{ name: 'w', mountPath: '/w' }] },
      ],
      volumes: [
        { name: 'v', hostPath: { path: '/a', type: '' } },
        { name: 'w', emptyDir: {} },
        { name: 'mount-0-0', hostPath: { path: '/b' } },
      ],
    });
    assert.deepEqual(notes, []);
  });
});

describe('volumes', () => {
  for (const [what, spec, expected] of [
    [
      'Kubernetes’ own',
      {
        capacity: { storage: '2Gi' },
        accessModes: ['ReadWriteMany'],
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: { path: '/a' },
      },
      {
        capacity: { storage: '2Gi' },
        accessModes: ['ReadWriteMany'],
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: { path: '/a' },
      },
    ],
    [
      'one of a server',
      { remote: { server: 'a.b' } },
      {
        capacity: { storage: '1Gi' },
        accessModes: undefined,
        nfs: { server: 'a.b', path: '/' },
      },
    ],
  ] as const)
    it(`are converted: ${what}`, () => {
      const { made, notes } = convertedOne(volume(spec));
      assert.deepEqual([made.spec, notes], [expected, []]);
    });
});

describe('claims', () => {
  const own = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    volumeName: 'x',
  };

  it('keep the fields of Kubernetes', () => {
    for (const storageClassName of ['', 'fast']) {
      const { made, notes } = converted(claim({ ...own, storageClassName }), volume({}));
      assert.deepEqual([made[0]?.spec, notes], [{ ...own, storageClassName }, []]);
    }
  });

  it('are bound to a volume of the input or to the default class, with a note', () => {
    const beside = converted(claim(own), volume({}));
    assert.deepEqual(beside.made[0]?.spec, { storageClassName: '', ...own });
    assert.deepEqual(beside.notes, [
      "f: spec.storageClassName: added: '', which binds the claim to a volume that exists",
    ]);
    const alone = convertedOne(claim(own));
    assert.deepEqual(alone.made.spec, own);
    assert.deepEqual(alone.notes, [
      'f: spec.storageClassName: none, so the default class provisions a volume',
    ]);
  });
});

describe('a Service', () => {
  const ports = [{ port: 80 }];
  for (const [what, spec, expected, notes] of [
    ['with a selector', { selector: { a: 'b' }, ports }, { selector: { a: 'b' }, ports }, []],
    ['without an address', { clusterIP: 'None', ports }, { clusterIP: 'None', ports }, []],
    [
      'with an address of another cluster',
      { clusterIP: '10.1.1.1', ports },
      { ports },
      ['f: spec.clusterIP: left out: the cluster assigns an address'],
    ],
  ] as const)
    it(`is converted ${what}`, () => {
      const converted = convertedOne({ kind: 'Service', metadata, spec });
      assert.deepEqual([converted.made.spec, converted.notes], [expected, notes]);
    });
});

describe('a host', () => {
  it('has the path / by default', () => {
    const { made } = convertedOne({
      kind: 'Dns',
      metadata,
      spec: { host: 'a', paths: [{ serviceName: 's', servicePort: 1 }] },
    });
    assert.deepEqual(made.spec, { host: 'a', paths: [{ path: '/', serviceName: 's', servicePort: 1 }] });
  });

  it('is read only from the spec, if that has one', () => {
    const { made, notes } = convertedOne({ kind: 'Dns', metadata, host: 'b', spec: { host: 'a' } });
    assert.deepEqual(made.spec, { host: 'a', paths: [] });
    assert.deepEqual(notes, ['f: host: left out: its meaning is not known']);
  });
});

describe('programs of functions', () => {
  const at = (object: JsonObject) => pathsOf({ where: 'f', object });

  it('are read at the paths of a function, also below its spec', () => {
    assert.deepEqual(at({ kind: 'Function', functionPath: 'a.py', spec: { requirementPath: 'r' } }), [
      'a.py',
      'r',
    ]);
    assert.deepEqual(at({ kind: 'activity', function: 'f', requirements: 'r', hostPath: '' }), ['f', 'r']);
    assert.deepEqual(at({ command: 'a', hostPath: 'b' }), ['b']);
    assert.deepEqual(at({ functionFile: 'a', hostPath: 'b', functionPath: 3 }), ['b']);
  });

  it('are not read for other kinds', () => {
    assert.deepEqual(at({ kind: 'Pod', hostPath: 'b' }), []);
    assert.deepEqual(at({ hostPath: 'b' }), []);
  });

  const fn = { kind: 'Function', functionPath: 'a.py' };
  const source = { files: { 'a.py': 'def go_now(event, context):\n    return event\n' }, binaryFiles: {} };
  const read = (object: JsonObject, found: typeof source | Error | undefined) => {
    const sources = new Map(found && [['a.py', found]]);
    const { objects, errors } = convert([{ where: 'f', object, sources }], kubernetesFields);
    return { objects, errors: errors.map(({ message }) => message) };
  };

  for (const named of [{ metadata: { name: 'go_now' } }, { name: 'go_now' }, { Name: 'go_now' }])
    it(`are found by the name as it is written: ${JSON.stringify(named)}`, () => {
      const { objects, errors } = read({ ...fn, ...named }, source);
      assert.deepEqual(errors, []);
      assert.deepEqual(
        objects.map(({ apiVersion, kind, metadata, spec }) => [
          apiVersion,
          kind,
          metadata,
          (spec as JsonObject).handler,
        ]),
        [['minik8s.io/v1', 'Function', { name: 'go-now' }, 'a.go_now']],
      );
    });

  it('that cannot be read are reported with the reason', () => {
    const named = { ...fn, metadata };
    assert.deepEqual(read(named, new Error('a.py: no such file')).errors, ['f: a.py: no such file']);
    assert.deepEqual(read(named, undefined).errors, ['f: "a.py" is not the path of a file']);
  });
});
