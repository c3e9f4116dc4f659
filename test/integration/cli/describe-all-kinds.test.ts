/** `ctl describe` of an object of every kind that the server serves, with the events about it at the end. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { seeds } from '../../fuzz/seeds.ts';

/** Kinds whose descriptions end without events, as in kubectl: no program reports events about them. */
const withoutEvents = new Set([
  ...['Namespace', 'ResourceQuota', 'LimitRange', 'Secret', 'Role', 'ClusterRole', 'RoleBinding'],
  ...['ClusterRoleBinding', 'NetworkPolicy'],
]);

const rule = {
  apiGroups: ['example.com'],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['widgets'],
};
const matchConstraints = { resourceRules: [rule] };
const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }];
/** Objects of the kinds that the seeds leave out or that need another object here, without head and name. */
const ownSeeds: Readonly<Record<string, object>> = {
  ValidatingAdmissionPolicy: { spec: { matchConstraints, validations: [{ expression: 'true' }] } },
  ValidatingAdmissionPolicyBinding: { spec: { policyName: 'web', validationActions: ['Deny'] } },
  MutatingAdmissionPolicy: { spec: { matchConstraints, mutations, reinvocationPolicy: 'Never' } },
  MutatingAdmissionPolicyBinding: { spec: { policyName: 'web' } },
  ValidatingWebhookConfiguration: {},
  MutatingWebhookConfiguration: {},
  Dns: { spec: { host: 'web.test', paths: [{ path: '/', serviceName: 'web', servicePort: 80 }] } },
};

/** Names of objects whose kind does not allow `web`. */
const names: Readonly<Record<string, string>> = {
  CustomResourceDefinition: 'as.a.example.com',
  APIService: 'v1.a.b',
  IPAddress: '203.0.113.7',
};

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

interface Listed {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

describe('ctl describe of every kind', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;

  const call = async <T = JsonObject>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, text } = await server.call(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  };

  before(async () => {
    server = await startHttpsTestServer();
    ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
  });
  after(() => server.stop());

  /** Returns the kinds whose objects are stored, in each version. */
  async function storedKinds(): Promise<Kind[]> {
    const { groups } = await call<{
      readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
    }>('GET', '/apis');
    const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion));
    const lists = ['v1', ...versions].map(async (apiVersion) => {
      const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
      const { resources } = await call<{ readonly resources: readonly Listed[] }>('GET', path);
      return resources
        .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('get') && verbs.includes('create'))
        .map(({ name, kind, namespaced }) => ({ apiVersion, kind, plural: name, namespaced }));
    });
    return (await Promise.all(lists)).flat();
  }

  it('prints the name, the namespace and the events of the object', async () => {
    const kinds = await storedKinds();
    assert.ok(kinds.length > 50, `${kinds.length} kinds`);
    const faults: string[] = [];
    for (const kind of kinds) {
      const name = await create(kind);
      const result = await ctl(['describe', wordOf(kind), name]);
      if (result.status !== 0 || result.err !== '') faults.push(`${wordOf(kind)}: ${result.err}`);
      else faults.push(...faultsOf(kind, name, result.out));
    }
    assert.deepEqual(faults, []);
  });

  const wordOf = ({ apiVersion, plural }: Kind) =>
    [plural, ...(apiVersion === 'v1' ? [] : apiVersion.split('/').reverse())].join('.');

  /** Creates an object of the kind, unless there is one, and an event about it. Returns its name. */
  async function create({ apiVersion, kind, plural, namespaced }: Kind): Promise<string> {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    const seed = ownSeeds[kind] ?? seeds[`${group}/${kind}`];
    assert.ok(seed, `no object of ${apiVersion} ${kind}`);
    const own = { name: names[kind] ?? 'web' };
    const object: JsonObject = { apiVersion, kind, metadata: own, ...structuredClone(seed) };
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    const collection = `${root}${namespaced ? '/namespaces/default' : ''}/${plural}`;
    const wanted = (object.metadata as { readonly name: string }).name;
    const found = await server.call('GET', `${collection}/${encodeURIComponent(wanted)}`);
    const { metadata } = found.status === 200 ? found.json() : await call('POST', collection, object);
    const { name, uid } = metadata as { readonly name: string; readonly uid: string };
    await call('POST', '/api/v1/namespaces/default/events', {
      metadata: { generateName: 'about-' },
      involvedObject: { apiVersion, kind, name, uid, ...(namespaced && { namespace: 'default' }) },
      type: 'Warning',
      reason: 'Seen',
      message: messageOf(kind, name),
      source: { component: 'test' },
    });
    return name;
  }

  const messageOf = (kind: string, name: string) => `about ${kind} ${name}`;

  function faultsOf({ kind, namespaced }: Kind, name: string, text: string): string[] {
    // The first cause stands below the events of an object with a problem.
    const lines = text
      .replace(/\nWhy: .*\n$/, '')
      .trimEnd()
      .split('\n');
    const hasEvents = lines.some((line) => line.startsWith('Events:'));
    const isRight: Readonly<Record<string, boolean>> = {
      'the name': lines.some((line) => /^Name: /.test(line) && line.endsWith(` ${name}`)),
      'the namespace': lines.some((line) => /^Namespace: +default$/.test(line)) === namespaced,
      'the event at the end': withoutEvents.has(kind)
        ? !hasEvents
        : hasEvents && lines.at(-1)?.endsWith(messageOf(kind, name)) === true,
      'less than 80 lines': lines.length < 80,
    };
    return Object.entries(isRight).flatMap(([what, is]) => (is ? [] : [`${kind}: not ${what}: ${text}`]));
  }
});
