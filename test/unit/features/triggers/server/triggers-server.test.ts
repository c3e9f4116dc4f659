/** The part of triggers in the API server: requests, results of functions, checks, and public triggers. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import type { AccessRequest } from '../../../../../src/apiserver/authorization/authorizer.ts';
import { triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import { triggersServer } from '../../../../../src/features/triggers/server/triggers-server.ts';
import { meta } from '../../../controllers/objects.ts';

const triggers: Readonly<Record<string, object>> = {
  open: { http: { path: '/a', public: true } },
  closed: { http: { path: '/b' } },
  results: { result: { function: 'f', outcomes: ['Success'] } },
};
const cache = {
  get: (key: string) => {
    const name = Object.keys(triggers).find((one) => key === storageKey(triggerResource, 'default', one));
    return name && { object: { metadata: meta(name), spec: triggers[name] } };
  },
  index: () => ({
    get: (key: string) =>
      key === 'default/f' ? [{ object: { metadata: meta('results'), spec: triggers.results } }] : [],
  }),
};
const part = triggersServer({ cache, handler: () => assert.fail('nothing is stored') } as never);
const feature = part.feature({ cache } as never);

it('a trigger is called with every method', () => {
  const { subresources = {} } = feature;
  assert.deepEqual(Object.keys(subresources), ['minik8s.io/triggers']);
  const { methods, ...rest } = subresources['minik8s.io/triggers']?.invoke ?? assert.fail();
  assert.deepEqual(Object.keys(methods), ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
  assert.deepEqual(rest, {
    kind: { group: '', version: 'v1', kind: 'TriggerRequest' },
    ...{ longRunning: 'call', answersBytes: true },
  });
});

it('the results of a function are received if a trigger reports them', () => {
  const { results } = part;
  assert.deepEqual([results?.listens('default', 'f'), results?.listens('default', 'g')], [true, false]);
  const call = async () => new Response('');
  assert.notEqual(results?.around(call), call);
});

it('chains are checked when objects are written, and nodes have access to their folders', () => {
  assert.deepEqual(
    feature.admission?.map(({ name }) => name),
    ['TriggerChains'],
  );
  assert.deepEqual(Object.keys(feature.nodeAccess?.restrictions ?? {}), [
    'minik8s.io/folderwatches',
    'minik8s.io/triggerevents',
  ]);
});

it('anonymous users may call only public triggers with the source http', async () => {
  const [authorizer] = feature.authorizers ?? [];
  const may = (name: string, resource = 'triggers/invoke') =>
    authorizer?.({
      ...{ type: 'resource', group: 'minik8s.io', namespace: 'default', resource, verb: 'create', name },
    } as AccessRequest);
  assert.deepEqual(
    [
      await may('open'),
      await may('closed'),
      await may('results'),
      await may('gone'),
      await may('open', 'triggers'),
    ],
    [true, false, false, false, false],
  );
});
