/**
 * Events of object triggers: with an account for the trigger, across restarts, and after a loss of the
 * history.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type ConfigMap, configMapResource } from '../../../../../src/api/core/v1/config-map.ts';
import type { Draft } from '../../../../../src/apimachinery/meta.ts';
import { serviceAccountUser } from '../../../../../src/apiserver/request/user.ts';
import { workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { type Delivered, World } from './world.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const triggers = '/apis/minik8s.io/v1/namespaces/default/triggers';

const world = new World('127.0.32');
before(async () => {
  await world.start();
  await allow('configmaps', 'default');
});
after(() => world.end());
afterEach(async () => {
  const { items } = await world.client
    .resource(configMapResource)
    .list({ namespace: 'default', labelSelector: 'test' });
  for (const { metadata } of items)
    await world.client.resource(configMapResource).delete(metadata.name, 'default');
});

async function allow(resource: string, account: string, group = ''): Promise<void> {
  const name = `${resource}-${account}`;
  await world.call('POST', `${rbac}/roles`, {
    metadata: { name },
    rules: [{ apiGroups: [group], resources: [resource], verbs: ['list', 'watch'] }],
  });
  const answer = await world.call('POST', `${rbac}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'default' }],
  });
  assert.equal(answer.status, 201, answer.text);
}

const maps = () => world.client.resource(configMapResource);
const make = (name: string, labels: Record<string, string> = {}, data: Record<string, string> = {}) =>
  maps().create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', labels: { test: 'yes', ...labels } },
    data,
  } as Draft<ConfigMap>);
const change = (name: string, body: unknown) => maps().patch(name, 'default', 'merge', body);

const ofMaps = { apiVersion: 'v1', kind: 'ConfigMap' };
const told = (seen: readonly Delivered[]) =>
  seen.map(({ type, subject }) => `${type.split('.').at(-1)} ${subject}`);
const ready = (name: string) =>
  world.eventually('it is ready', async () => (await world.condition(name, 'Ready'))?.status === 'True');

describe('a trigger of objects', () => {
  it('reports created, changed and deleted objects of its selector', async () => {
    const seen = await world.noting('all');
    const object = { ...ofMaps, labelSelector: 'app=web' };
    await world.trigger('all', { target: { name: 'all' }, object });
    await make('other');
    await make('one', { app: 'web' }, { a: '1' });
    await change('one', { data: { a: '2' } });
    await change('other', { metadata: { labels: { app: 'web' } } });
    await change('other', { metadata: { labels: { app: 'db' } } });
    await maps().delete('one', 'default');
    await world.eventually('all changes are reported', () => seen.length >= 5);
    const wanted = ['created one', 'created other', 'deleted one', 'deleted other', 'updated one'];
    assert.deepEqual(told(seen).toSorted(), wanted);
    const updated = seen.find(({ type }) => type === 'minik8s.io/object.updated');
    const data = updated?.data as unknown as { change: string; object: ConfigMap };
    assert.deepEqual([data.change, data.object.kind, data.object.data], ['Updated', 'ConfigMap', { a: '2' }]);
    assert.equal(updated?.source, '/apis/v1/namespaces/default/configmaps');
  });

  it('reports only the selected changes, also changes of one field', async () => {
    const seen = await world.noting('some');
    const object = { ...ofMaps, types: ['Deleted'], fieldSelector: 'metadata.name=two' };
    await world.trigger('some', { target: { name: 'some' }, object });
    for (const name of ['two', 'three']) {
      await make(name);
      await maps().delete(name, 'default');
    }
    await world.eventually('the change is reported', () => seen.length >= 1);
    assert.deepEqual(told(seen), ['deleted two']);
  });

  it('reports changes that happened while no controller ran', async () => {
    const seen = await world.noting('restarted');
    await world.trigger('restarted', {
      target: { name: 'restarted' },
      object: { ...ofMaps, labelSelector: 'app=restart' },
    });
    await make('before', { app: 'restart' });
    await world.eventually('the change is reported', () => seen.length === 1);
    await world.eventually('how far it is, is written', async () => {
      const [found, { metadata }] = [await world.status('restarted'), await maps().get('before', 'default')];
      return Number(found?.position?.resourceVersion) >= Number(metadata.resourceVersion);
    });
    await world.halt();
    const body = { metadata: { name: 'meanwhile', labels: { test: 'yes', app: 'restart' } } };
    await world.beside('POST', '/api/v1/namespaces/default/configmaps', body);
    await world.start();
    await world.eventually('the change is reported', () => seen.length === 2);
    assert.deepEqual(told(seen), ['created before', 'created meanwhile']);
  });

  it('reports the remaining objects after a lost history, and that changes are missing', async () => {
    const seen = await world.noting('lost');
    const object = { ...ofMaps, labelSelector: 'app=lost' };
    await world.trigger('lost', { target: { name: 'lost' }, object });
    await make('kept', { app: 'lost' });
    // Creation times are whole seconds, and they determine which objects are new.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await make('removed', { app: 'lost' });
    await world.eventually('the changes are reported', () => seen.length === 2);
    await world.eventually('how far it is, is written', async () => {
      const [found, { metadata }] = [await world.status('lost'), await maps().get('removed', 'default')];
      return Number(found?.position?.resourceVersion) >= Number(metadata.resourceVersion);
    });
    await world.halt();
    const path = '/api/v1/namespaces/default/configmaps';
    await world.beside('PATCH', `${path}/kept`, { data: { a: '2' } });
    await world.beside('DELETE', `${path}/removed`);
    await world.beside('POST', path, { metadata: { name: 'young', labels: { test: 'yes', app: 'lost' } } });
    await world.forgetHistory();
    await world.start();
    await world.eventually('the change is reported', () => seen.length === 4);
    assert.deepEqual(told(seen).slice(2).toSorted(), ['created young', 'updated kept']);
    const missed = await world.eventually('it is said', () => world.condition('lost', 'EventsMissed'));
    assert.match(missed.message ?? '', /is lost: deleted objects are not reported/);
    assert.equal((await world.condition('lost', 'Ready'))?.status, 'True');
  });

  it('reports that its account lacks the right to watch, and starts when the account has it', async () => {
    const seen = await world.noting('allowed');
    await world.trigger('allowed', {
      target: { name: 'allowed' },
      serviceAccountName: 'watcher',
      object: { apiVersion: 'v1', kind: 'Secret' },
    });
    await world.eventually('the missing account is reported', async () => {
      return (await world.condition('allowed', 'Ready'))?.reason === 'AccountMissing';
    });
    await world.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'watcher' } });
    const condition = await world.eventually('the status reports it', async () => {
      const found = await world.condition('allowed', 'Ready');
      return found?.reason === 'NotAllowed' && found;
    });
    assert.match(
      condition.message ?? '',
      /"system:serviceaccount:default:watcher" cannot watch resource "secrets"/,
    );
    await world.call('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 's1' },
      stringData: { a: '1' },
    });
    assert.equal(seen.length, 0);
    await allow('secrets', 'watcher');
    await ready('allowed');
    // Changes since the creation of the trigger are reported, too.
    await world.eventually('the change is reported', () => told(seen).includes('created s1'));
  });

  it('cannot be used to read objects that its account may not read', async () => {
    const jane = serviceAccountUser('default', 'jane');
    assert.equal(
      (await world.call('GET', '/api/v1/namespaces/kube-system/configmaps', undefined, { user: jane }))
        .status,
      403,
    );
    await world.trigger('elsewhere', {
      target: { name: 'all' },
      object: { ...ofMaps, namespace: 'kube-system' },
    });
    await world.eventually(
      'it is refused',
      async () => (await world.condition('elsewhere', 'Ready'))?.reason === 'NotAllowed',
    );
  });

  it('reports a kind that is not served', async () => {
    await world.trigger('strange', {
      target: { name: 'all' },
      object: { apiVersion: 'example.com/v1', kind: 'Strange' },
    });
    await world.eventually(
      'the status reports it',
      async () => (await world.condition('strange', 'Ready'))?.reason === 'KindNotServed',
    );
    await world.trigger('review', {
      target: { name: 'all' },
      object: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' },
    });
    await world.eventually(
      'the status reports it',
      async () => (await world.condition('review', 'Ready'))?.reason === 'KindNotServed',
    );
  });

  it('that watches triggers is rejected, because each event would cause another', async () => {
    for (const kind of ['Trigger', 'TriggerEvent']) {
      const spec = { target: { name: 'all' }, object: { apiVersion: 'minik8s.io/v1', kind } };
      const answer = await world.call('POST', triggers, { metadata: { name: 'self' }, spec });
      assert.equal(answer.status, 422);
      assert.match(answer.text, /spec\.object\.kind/);
    }
  });

  it('starts again after a change of its source, without earlier changes', async () => {
    const seen = await world.noting('changed');
    await world.trigger('changed', {
      target: { name: 'changed' },
      object: { ...ofMaps, labelSelector: 'app=a' },
    });
    await make('b-before', { app: 'b' });
    await ready('changed');
    const spec = { object: { ...ofMaps, labelSelector: 'app=b' } };
    await world.call(
      'PATCH',
      `${triggers}/changed`,
      { spec },
      { headers: { 'content-type': 'application/merge-patch+json' } },
    );
    const first = (await world.status('changed'))?.position?.of;
    await world.eventually('it is seen', async () => (await world.status('changed'))?.position?.of !== first);
    await make('b-after', { app: 'b' });
    await world.eventually('the change is reported', () => seen.length >= 1);
    assert.deepEqual(told(seen), ['created b-after']);
  });

  it('waits while a thousand events are pending, and reports all in the end', async () => {
    let isUp = false;
    const ids = new Set<string>();
    await world.fn('slow', (incoming, outgoing) => {
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('end', () => {
        if (isUp) ids.add(JSON.parse(text).subject);
        outgoing.writeHead(isUp ? 200 : 503).end();
      });
    });
    await world.trigger('flood', {
      target: { name: 'slow' },
      object: { ...ofMaps, labelSelector: 'app=flood', types: ['Created'] },
      retry: { maxAttempts: 100, minSeconds: 5, maxSeconds: 5 },
    });
    for (let n = 0; n < 1200; n++) await make(`flood-${n}`, { app: 'flood' });
    await world.eventually(
      'the number of waiting events is reported',
      async () => (await world.condition('flood', 'Backlogged'))?.status === 'True',
    );
    assert.ok((await world.events('flood')).length <= 1000);
    isUp = true;
    await world.eventually('all changes are reported', () => ids.size === 1200, 120_000);
    await world.eventually(
      'no event waits any more',
      async () => (await world.condition('flood', 'Backlogged')) === undefined,
    );
  });
});

describe('triggers of runs', () => {
  const group = '/apis/minik8s.io/v1/namespaces/default';
  const runs = async () => {
    const { items } = await world.client.resource(workflowRunResource).list({ namespace: 'default' });
    return items;
  };
  const isReady = (name: string) =>
    world.eventually('it watches', async () => (await world.condition(name, 'Ready'))?.status === 'True');

  it('do not report runs that they caused, directly or through other triggers', async () => {
    await allow('workflowruns', 'default', 'minik8s.io');
    const definition = (States: object) => ({ StartAt: 'A', States });
    const workflows = {
      plain: definition({ A: { Type: 'Pass', End: true } }),
      outer: definition({
        A: { Type: 'Task', Resource: 'workflow:plain', End: true },
      }),
    };
    for (const [name, of] of Object.entries(workflows)) {
      const spec = { definition: of };
      const made = await world.call('POST', `${group}/workflows`, { metadata: { name }, spec });
      assert.equal(made.status, 201, made.text);
    }
    const object = { apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', types: ['Created'] };
    for (const [name, workflow] of Object.entries({ one: 'outer', two: 'plain' })) {
      await world.trigger(name, { target: { kind: 'Workflow', name: workflow }, object });
      await isReady(name);
    }
    const spec = { workflow: 'plain' };
    const begun = await world.call('POST', `${group}/workflowruns`, { metadata: { name: 'first' }, spec });
    assert.equal(begun.status, 201, begun.text);
    await world.eventually('all is over', async () => {
      const all = await runs();
      const isOver = all.every(({ status }) => status?.phase === 'Succeeded');
      // Events of other tests' triggers may still be in progress.
      const waiting = await Promise.all(['one', 'two'].map((name) => world.events(name)));
      return (isOver && all.length >= 8 && waiting.flat().length === 0) || all.length > 100;
    });
    const chains = (await runs()).map(({ metadata, spec: { parent } }) =>
      [metadata.annotations?.['minik8s.io/trigger-chain'] ?? '', ...(parent ? ['child'] : [])].join(' '),
    );
    // Each run of `one` has a child, which is reported to `two` as well.
    assert.deepEqual(chains.toSorted(), [
      '',
      'default/one',
      'default/one child',
      'default/one,default/two',
      'default/one,default/two',
      'default/two',
      'default/two,default/one',
      'default/two,default/one child',
    ]);
    for (const name of ['one', 'two']) await world.call('DELETE', `${triggers}/${name}`);
  });
  it('report a run with any content that its creator writes', async () => {
    const metadata = { name: 'hidden', annotations: { 'minik8s.io/trigger-chain': 'default/one' } };
    const answer = await world.call('POST', `${group}/workflowruns`, {
      metadata,
      spec: { workflow: 'plain' },
    });
    assert.equal(answer.status, 403, answer.text);
  });
  it('of Functions do not report the changes that calls cause', async () => {
    const object = { apiVersion: 'minik8s.io/v1', kind: 'Function' };
    const make = (of: object) =>
      world.call('POST', triggers, {
        metadata: { name: 'of-functions' },
        spec: { target: { name: 'f' }, object: of },
      });
    assert.equal((await make(object)).status, 422);
    assert.equal((await make({ ...object, types: ['Created', 'Deleted'] })).status, 201);
  });
});
