/**
 * Fields that admission adds to a pod from its service account, and pods that an account or an agent may not
 * create.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { type AccountWorld, inDefault, startAccountWorld } from './account-world.ts';

describe('a new pod of an account', () => {
  let world: AccountWorld;
  let count = 0;
  before(async () => {
    world = await startAccountWorld();
    const accounts = `${inDefault}/serviceaccounts`;
    await world.make(accounts, { metadata: { name: 'closed' }, automountServiceAccountToken: false });
    await world.make(accounts, {
      metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'own' }],
      imagePullSecrets: [{ name: 'pull' }],
    });
  });
  after(() => world.server.stop());
  const create = (spec: object, metadata: object = {}) =>
    world.server.call('POST', `${inDefault}/pods`, {
      metadata: { name: `a${count++}`, ...metadata },
      spec: { serviceAccountName: 'app', containers: [{ name: 'c', image: 'i' }], ...spec },
    });
  const made = async (spec: object) => {
    const answer = await create(spec);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<Pod>().spec;
  };
  const path = '/var/run/secrets/kubernetes.io/serviceaccount';

  it('has a token, the authority and its namespace at the paths that clients read', async () => {
    const own = [{ name: 'v', mountPath: '/v' }];
    const { volumes = [], containers } = await made({
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        { name: 'a', image: 'i', volumeMounts: own },
        { name: 'b', image: 'i' },
      ],
    });
    const [, volume, ...more] = volumes;
    assert.equal(more.length, 0);
    const { name = '', projected } = volume ?? {};
    assert.match(name, /^kube-api-access-[a-z0-9]{5}$/);
    assert.deepEqual(projected, {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    });
    const mount = { name, readOnly: true, mountPath: path };
    assert.deepEqual(
      containers.map(({ volumeMounts }) => volumeMounts),
      [[...own, mount], [mount]],
    );
  });

  const names = ({ volumes = [] }: Pod['spec']) => volumes.map(({ name }) => name);
  it('has no token if the pod or, without a setting in the pod, the account disables it', async () => {
    assert.deepEqual(names(await made({ automountServiceAccountToken: false })), []);
    assert.deepEqual(names(await made({ serviceAccountName: 'closed' })), []);
    const asked = await made({ serviceAccountName: 'closed', automountServiceAccountToken: true });
    assert.equal(names(asked).length, 1);
  });

  it('keeps its own mounts at that path, and its own volume of that name', async () => {
    const own = [{ name: 'v', mountPath: path }];
    const containers = [{ name: 'a', image: 'i', volumeMounts: own }];
    const kept = await made({ volumes: [{ name: 'v', emptyDir: {} }], containers });
    assert.deepEqual(names(kept), ['v']);
    assert.deepEqual(kept.containers[0]?.volumeMounts, own);
    const again = await made({ volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] });
    assert.deepEqual(names(again), ['kube-api-access-mine']);
    assert.equal(again.containers[0]?.volumeMounts?.[0]?.name, 'kube-api-access-mine');
  });

  const secret = (name: string) => ({ name: 's', secret: { secretName: name } });
  const variable = (name: string) => ({ name: 'V', valueFrom: { secretKeyRef: { name, key: 'k' } } });
  const withEnv = (more: object) => [{ name: 'c', image: 'i', ...more }];
  const strict = { serviceAccountName: 'strict' };
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
  const token = { name: 't', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } };
  const refused: readonly [string, object, RegExp, object?][] = [
    [
      'a volume',
      { ...strict, volumes: [secret('other')] },
      /volume with secret\.secretName="other" is not allowed/,
    ],
    [
      'a variable',
      { ...strict, containers: withEnv({ env: [variable('other')] }) },
      /container c with .*"other"/,
    ],
    [
      'all keys for the environment',
      { ...strict, containers: withEnv({ envFrom: [{ secretRef: { name: 'other' } }] }) },
      /container c with .*"other"/,
    ],
    [
      'an init container',
      { ...strict, initContainers: withEnv({ name: 'i', env: [variable('other')] }) },
      /init container i with .*"other"/,
    ],
    [
      'an image',
      { ...strict, imagePullSecrets: [{ name: 'own' }] },
      /imagePullSecrets\[0\]\.name="own" is not allowed/,
    ],
    ['the account of a mirror pod', {}, /a mirror pod may not reference service accounts/, mirror],
    [
      'a Secret of a mirror pod',
      { serviceAccountName: '', volumes: [secret('own')] },
      /a mirror pod may not reference secrets/,
      mirror,
    ],
    [
      'a token of a mirror pod',
      { serviceAccountName: '', volumes: [token] },
      /a mirror pod may not use ServiceAccountToken/,
      mirror,
    ],
  ];
  for (const [what, spec, why, metadata] of refused)
    it(`may not have ${what} of another account`, async () => {
      const answer = await create(spec, metadata);
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.json<Status>().message ?? '', why);
    });

  it('may use the secrets that its account lists, and a mirror pod may use none', async () => {
    const own = await made({
      ...strict,
      volumes: [secret('own')],
      containers: withEnv({ env: [variable('own')] }),
    });
    assert.deepEqual(own.imagePullSecrets, [{ name: 'pull' }]);
    const answer = await create({ serviceAccountName: '' }, mirror);
    assert.equal(answer.status, 201, answer.text);
    const { spec } = answer.json<Pod>();
    assert.deepEqual([spec.serviceAccountName ?? '', spec.volumes ?? []], ['', []]);
  });

  const source = (more: object) => ({ volumes: [{ name: 'p', projected: { sources: [more] } }] });
  const file = (more: object) => source({ downwardAPI: { items: [{ path: 'f', ...more }] } });
  const field = (fieldPath: string) => ({ fieldRef: { fieldPath } });
  const invalid: readonly [string, object, RegExp][] = [
    [
      'a token with too short a validity',
      source({ serviceAccountToken: { path: 't', expirationSeconds: 599 } }),
      /less than 10 minutes/,
    ],
    [
      'a token with too long a lifetime',
      source({ serviceAccountToken: { path: 't', expirationSeconds: 2 ** 33 } }),
      /larger than 2\^32/,
    ],
    [
      'a token outside of the volume',
      source({ serviceAccountToken: { path: '../t' } }),
      /path: Invalid value: "\.\.\/t": must not contain/,
    ],
    ['a token elsewhere', source({ serviceAccountToken: { path: '/etc/t' } }), /must be a relative path/],
    [
      'a token at the path of the link',
      source({ serviceAccountToken: { path: '..data' } }),
      /must not start with '\.\.'/,
    ],
    ['a token nowhere', source({ serviceAccountToken: { path: '' } }), /path: Required value/],
    ['a source without a type', source({}), /must specify a source/],
    [
      'a source of two types',
      source({ secret: { name: 's' }, configMap: { name: 'c' } }),
      /may not specify more than 1/,
    ],
    ['a Secret without a name', source({ secret: {} }), /secret\.name: Required value/],
    [
      'a key without a path',
      source({ configMap: { name: 'c', items: [{ key: 'k', path: '' }] } }),
      /items\[0\]\.path: Required/,
    ],
    [
      'a key outside of the volume',
      { volumes: [{ name: 's', secret: { secretName: 's', items: [{ key: 'k', path: 'a/../../b' }] } }] },
      /must not contain '\.\.'/,
    ],
    [
      'an invalid mode',
      { volumes: [{ name: 's', configMap: { name: 's', defaultMode: 512 } }] },
      /between 0 and 0777/,
    ],
    ['a file without a field', file({}), /one of fieldRef and resourceFieldRef is required/],
    ['a field of the spec', file(field('spec.nodeName')), /must be a field of metadata/],
    [
      'two files at one path',
      {
        volumes: [
          {
            name: 'p',
            projected: {
              sources: [
                { serviceAccountToken: { path: 'f' } },
                { downwardAPI: { items: [{ path: 'f', ...field('metadata.name') }] } },
              ],
            },
          },
        ],
      },
      /conflicting duplicate paths/,
    ],
  ];
  for (const [what, spec, why] of invalid)
    it(`may not request ${what}`, async () => {
      const answer = await create(spec);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.json<Status>().message ?? '', why);
    });
});
