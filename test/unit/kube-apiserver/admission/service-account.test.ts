/**
 * ServiceAccount of a pod, the fields that the pod takes from it, and the wait for the default one of a new
 * namespace.
 */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import type { ServerContext } from '../../../../src/apiserver/server-context.ts';
import {
  defaultAccountPatience,
  serviceAccounts,
} from '../../../../src/kube-apiserver/admission/service-account.ts';
import type { CacheWatch } from '../../../../src/storage/cache.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const prefix = '/registry/serviceaccounts/a/';

class World {
  readonly clock = new FakeClock();
  readonly cached = new Map<string, object>();
  readonly stored = new Map<string, object>();
  readonly watches = new Set<CacheWatch>();
  /** Functions that wait for a turn, in order. */
  readonly waiting: (() => void)[] = [];
  /** True if turns come without the test. */
  prompt = true;

  constructor() {
    this.cached.set('/registry/namespaces/a', { metadata: {} });
  }

  readonly turns = {
    next: () =>
      new Promise<void>((resolve) => {
        if (this.prompt) resolve();
        else this.waiting.push(resolve);
      }),
  };

  plugin = () => serviceAccounts(this as unknown as ServerContext);
  readonly store = {
    get: async (key: string) => {
      const object = this.stored.get(key);
      return object && { value: Buffer.from(JSON.stringify(object)), revision: 3 };
    },
  };
  readonly cache = {
    revision: 7,
    get: (key: string) => {
      const object = this.cached.get(key);
      return object && { object };
    },
    watch: (watched: string, after: number, watch: CacheWatch) => {
      assert.deepEqual([watched, after], [prefix, 7]);
      this.watches.add(watch);
      return () => this.watches.delete(watch);
    },
  };

  arrives(name: string, account: object = {}): void {
    this.cached.set(`${prefix}${name}`, accountOf(account, name));
    for (const { onEvents } of this.watches) onEvents([], 8);
  }

  /** Returns the pod's specification as it will be stored, or the reason of the rejection. */
  async admitted(spec: object = {}, over: Partial<Admission> = {}): Promise<object | string> {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec } as unknown as KubeObject;
    const user = { name: 'u', groups: [] };
    const admission = {
      operation: 'create',
      namespace: 'a',
      name: 'p',
      subresource: '',
      user,
      object,
    } as const;
    try {
      await this.plugin().mutate?.({ ...admission, definition: podResource as never, ...over });
      return spec;
    } catch (error) {
      assert.ok(error instanceof StatusError && [403, 404].includes(error.status.code), String(error));
      return error.message;
    }
  }
}

/**
 * Pods of this account need no token; for tokens see test/integration/apiserver/account-admission.test.ts.
 */
const accountOf = (more: object, name = 'default') => ({
  metadata: { name },
  automountServiceAccountToken: false,
  ...more,
});

const named = (name: string) => ({ serviceAccountName: name, serviceAccount: name });
const secrets = [{ name: 'registry' }];

describe('a pod', () => {
  it('gets the account of its namespace if it names none', async () => {
    const world = new World();
    world.arrives('default');
    assert.deepEqual(await world.admitted(), named('default'));
    assert.deepEqual(await world.admitted({ serviceAccountName: '' }), named('default'));
  });

  it('keeps the account that it names, whether in the cache or only in the store', async () => {
    const world = new World();
    world.arrives('robot');
    world.stored.set(`${prefix}late`, accountOf({}, 'late'));
    assert.deepEqual(await world.admitted(named('robot')), named('robot'));
    assert.deepEqual(await world.admitted({ serviceAccountName: 'late' }), named('late'));
    assert.equal(world.clock.pending, 0);
  });

  it('is refused at once if the named account does not exist', async () => {
    const world = new World();
    world.arrives('default');
    assert.equal(
      await world.admitted(named('robot')),
      'pods "p" is forbidden: error looking up service account a/robot: serviceaccount "robot" not found',
    );
  });

  it('gets the image pull secrets of its account if it has none, as copies', async () => {
    const world = new World();
    world.arrives('default', { imagePullSecrets: secrets });
    const spec = (await world.admitted()) as { imagePullSecrets: object[] };
    assert.deepEqual(spec.imagePullSecrets, secrets);
    assert.notEqual(spec.imagePullSecrets[0], secrets[0]);
    const empty = (await world.admitted({ imagePullSecrets: [] })) as { imagePullSecrets: object[] };
    assert.deepEqual(empty.imagePullSecrets, secrets);
    const own = { imagePullSecrets: [{ name: 'mine' }] };
    assert.deepEqual(await world.admitted({ ...own }), { ...own, ...named('default') });
  });

  it('waits for the account of its namespace, which is created a moment later', async () => {
    const world = new World();
    const answer = world.admitted();
    await world.clock.advance(defaultAccountPatience - 1);
    world.arrives('default', { imagePullSecrets: secrets });
    assert.deepEqual(await answer, { ...named('default'), imagePullSecrets: secrets });
    assert.deepEqual([world.clock.pending, world.watches.size], [0, 0]);
  });

  it('is refused when its namespace is deleted while it waits', async () => {
    const terminating = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
    for (const [namespace, why] of [
      [terminating, /unable to create new content in namespace a because it is being terminated$/],
      [undefined, /^namespaces "a" not found$/],
    ] as const) {
      const world = new World();
      const answer = world.admitted();
      await world.clock.settle();
      if (namespace) world.cached.set('/registry/namespaces/a', namespace);
      else world.cached.delete('/registry/namespaces/a');
      world.arrives('default');
      assert.match(String(await answer), why);
    }
  });

  it('continues in its turn, with the current account', async () => {
    const world = new World();
    world.prompt = false;
    const answers = [world.admitted(), world.admitted()];
    await world.clock.settle();
    world.arrives('default');
    await world.clock.settle();
    assert.equal(world.waiting.length, 2);
    world.waiting[0]?.();
    assert.deepEqual(await answers[0], named('default'));
    world.cached.set(`${prefix}default`, accountOf({ imagePullSecrets: secrets }));
    world.waiting[1]?.();
    assert.deepEqual(await answers[1], { ...named('default'), imagePullSecrets: secrets });
  });

  it('still waits when another account is created', async () => {
    const world = new World();
    const answer = world.admitted();
    await world.clock.settle();
    world.arrives('default-2');
    await world.clock.settle();
    assert.equal(world.watches.size, 1);
    world.arrives('default');
    assert.deepEqual(await answer, named('default'));
  });

  it('does not miss an account that is created while it begins to wait', async () => {
    const world = new World();
    const { watch } = world.cache;
    world.cache.watch = (...given) => {
      world.cached.set(`${prefix}default`, accountOf({}));
      return watch(...given);
    };
    assert.deepEqual(await world.admitted(), named('default'));
  });

  for (const [title, end] of [
    ['after two seconds', (world: World) => world.clock.advance(defaultAccountPatience)],
    [
      'when the cache restarts',
      async (world: World) => {
        for (const { onExpired } of world.watches) onExpired();
      },
    ],
  ] as const)
    it(`waits no longer ${title}`, async () => {
      const world = new World();
      const answer = world.admitted();
      await world.clock.settle();
      await end(world);
      assert.match(
        String(await answer),
        /error looking up service account a\/default: serviceaccount "default" not found$/,
      );
      assert.deepEqual([world.clock.pending, world.watches.size], [0, 0]);
    });
});

test('only new pods are checked', async () => {
  const world = new World();
  for (const over of [
    { operation: 'update' },
    { subresource: 'status' },
    { definition: { ...podResource, group: 'example.com' } as never },
    { definition: { ...podResource, plural: 'others' } as never },
  ] as const)
    assert.deepEqual(await world.admitted(named('robot'), over), named('robot'));
});

test('an ephemeral container may use no Secret that the account of its pod does not name', async () => {
  const world = new World();
  const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
  const strict = accountOf({ metadata: { name: 'strict', annotations }, secrets: [{ name: 'own' }] });
  world.cached.set(`${prefix}strict`, strict);
  const look = (name: string, account = 'strict') => {
    const env = [{ name: 'V', valueFrom: { secretKeyRef: { name, key: 'k' } } }];
    const spec = { ...named(account), ephemeralContainers: [{ name: 'debug', env }] };
    return world.admitted(spec, { operation: 'update', subresource: 'ephemeralcontainers' });
  };
  assert.equal(typeof (await look('own')), 'object');
  assert.match(String(await look('other')), /ephemeral container debug with .*"other" is not allowed/);
  world.cached.set(`${prefix}free`, accountOf({}, 'free'));
  assert.equal(typeof (await look('other', 'free')), 'object');
});
